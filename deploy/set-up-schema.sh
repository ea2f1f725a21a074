#!/bin/sh
# Bring Temporal's two databases to the schema of this image. Safe to run again: what is there already stays.
set -eu

host=${POSTGRES_SEEDS:?}
user=${POSTGRES_USER:?}
schemas=/etc/temporal/schema/postgresql/v12
attempts=30

sql_tool() {
  database=$1
  shift
  temporal-sql-tool --plugin postgres12 --ep "$host" -p 5432 -u "$user" --db "$database" "$@"
}

# The last step alone decides: the first two fail where they were done before.
set_up() {
  sql_tool "$1" create || true
  sql_tool "$1" setup-schema -v 0.0 || true
  sql_tool "$1" update-schema -d "$schemas/$2/versioned"
}

bring_up_to_date() {
  attempt=1
  until sql_tool "$1" update-schema -d "$schemas/$2/versioned" || set_up "$1" "$2"; do
    if [ "$attempt" -ge "$attempts" ]; then
      echo "the schema of $1 could not be set up in $attempts attempts" >&2
      exit 1
    fi
    attempt=$((attempt + 1))
    sleep 2
  done
}

bring_up_to_date temporal temporal
bring_up_to_date temporal_visibility visibility
echo "both schemas are up to date"
