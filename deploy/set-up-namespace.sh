#!/bin/sh
# Create the namespace and the search attributes, and wait until they can be used. Safe to run again: what is there already stays.
# Address and namespace are read by `temporal` from TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE.
set -eu

namespace=${TEMPORAL_NAMESPACE:?}
retention=${NAMESPACE_RETENTION:-30d}
attempts=${ATTEMPTS:-60}

# Do "$@" again until it succeeds.
persist() {
  attempt=1
  until "$@"; do
    if [ "$attempt" -ge "$attempts" ]; then
      echo "gave up after $attempts attempts: $*" >&2
      exit 1
    fi
    attempt=$((attempt + 1))
    sleep 2
  done
}

make_namespace() {
  temporal operator namespace describe --namespace "$namespace" >/dev/null 2>&1 ||
    temporal operator namespace create --namespace "$namespace" --retention "$retention"
}

make_search_attribute() {
  temporal operator search-attribute list --namespace "$namespace" 2>/dev/null | grep -qw "$1" ||
    temporal operator search-attribute create --namespace "$namespace" --name "$1" --type Keyword
}

# A search attribute is known to all parts of the server some time after it was created.
use_search_attributes() {
  temporal workflow count --namespace "$namespace" \
    --query 'SubagentsAgent = "none" AND SubagentsStatus = "none"' >/dev/null 2>&1
}

persist temporal operator cluster health
persist make_namespace
persist make_search_attribute SubagentsAgent
persist make_search_attribute SubagentsStatus
persist use_search_attributes
echo "namespace $namespace is ready"
