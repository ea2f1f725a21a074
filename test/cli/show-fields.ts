import { readFileSync } from "node:fs";
import type { JsonLine } from "./cli-process.ts";

type Fields = Record<string, unknown>;

/** One object of `show --json`, and the row of the manual that tells of it. */
export interface Told {
  row: string;
  fields: Fields;
}

/** The manual's table of what `show --json` writes: which fields each object has; those with a question mark may be missing. */
export function readFieldTable(): Map<string, Map<string, boolean>> {
  const manual = readFileSync(new URL("../../docs/command-line.md", import.meta.url), "utf8");
  const [, section = ""] = /### show --json\n([\s\S]*?)\n## /.exec(manual) ?? [];
  const rows = section.split("\n").filter((line) => line.startsWith("| ") && !/^\| (object|-)/.test(line));
  const table = new Map(
    rows.map((row) => {
      const [, name = "", fields = ""] = row.split("|").map((cell) => cell.trim());
      const written = [...fields.matchAll(/`(\w+)(\??)`/g)];
      return [
        name.replaceAll("`", ""),
        new Map(written.map(([, field = "", mark]) => [field, mark === ""])),
      ] as const;
    }),
  );
  table.set(
    "delegation",
    new Map([...(table.get("a delegation") ?? []), ...(table.get("delegation") ?? [])]),
  );
  return table;
}

/** Take an event of `show --json` apart into all that the manual has a row for. */
export function toTold(event: JsonLine): Told[] {
  const { type } = event;
  const list = (name: string) => (event[name] ?? []) as Fields[];
  const row = type === "transcript" ? `item ${event.item}` : type;
  const answers = list("answers");
  const retries = [...answers, event].flatMap(({ retries: own }) => (own ?? []) as Fields[]);
  return [
    { row, fields: event },
    ...(type === "session"
      ? list("delegations").map((fields) => ({ row: "a delegation", fields: bare(fields) }))
      : []),
    ...(type === "delegation" ? [] : list("turns").map((fields) => ({ row: "a turn", fields }))),
    ...(type === "transcript" ? [] : list("calls").map((fields) => ({ row: "a call", fields }))),
    ...answers.map((fields) => ({ row: "an answer", fields })),
    ...retries.map((fields) => ({ row: "a retry", fields })),
    ...list("attemptList").map((fields) => ({ row: "an attempt", fields })),
    ...(event.end === undefined ? [] : [{ row: "end", fields: event.end as Fields }]),
    ...list("timeline").map((fields) => ({ row: String(fields.kind), fields })),
  ];
}

function bare({ type: _, ...fields }: Fields): Fields {
  return fields;
}

/** What an object has that its row does not name, and what it lacks that its row names without a question mark. */
export function compareFields({ row, fields }: Told, table: ReturnType<typeof readFieldTable>): string[] {
  const known = table.get(row);
  if (known === undefined) return [`${row} is not in the manual`];
  const missing = [...known].filter(([field, isSure]) => isSure && fields[field] === undefined);
  const extra = Object.keys(fields).filter((field) => fields[field] !== undefined && !known.has(field));
  return [
    ...missing.map(([field]) => `${row} lacks ${field}`),
    ...extra.map((field) => `${row} has ${field}`),
  ];
}
