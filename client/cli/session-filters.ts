import { type Command, InvalidArgumentError } from "commander";
import { toWholeNumber } from "./flags.ts";

export const MAX_LISTED = 1000;

/** What a session or its latest turn can be; `running` is another word for open. */
const statuses = ["open", "closed", "cancelled", "terminated", "failed", "timed_out", "completed", "aborted"];

const units = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;

/** Options that say which sessions are listed. */
export function addSessionFilters(command: Command): Command {
  return command
    .option("--open", "only those that are open", false)
    .option(
      "--status <status>",
      `only those that stand so, or whose latest turn ended so: ${statuses.join(", ")}; several with commas`,
      toStatuses,
    )
    .option("--since <time>", "begun since: 30m, 2h, 7d ago, or a date such as 2026-11-30T18:00", toTimeMs)
    .option("--until <time>", "begun before, written likewise", toTimeMs)
    .option("--workspace <dir>", "only those that work in this folder or below it")
    .option("--agent <name>", "only those in which a delegate of this definition ran")
    .option("--task-queue <name>", "only those of this task queue")
    .option("--text <words>", "only those whose first message has these words in its beginning")
    .option("--limit <count>", "at most so many", toWholeNumber(1, MAX_LISTED), 50);
}

/** Read statuses with commas between them, added to those given before. @throws InvalidArgumentError that lists what there is. */
export function toStatuses(text: string, earlier: string[] = []): string[] {
  const asked = text.split(",").map((word) => word.trim().toLowerCase().replaceAll("-", "_"));
  const known = asked.map((word) => (word === "running" ? "open" : word));
  if (known.every((word) => statuses.includes(word))) return [...earlier, ...known];
  throw new InvalidArgumentError(`Allowed are ${[...statuses, "running"].join(", ")}.`);
}

/** A time of day in milliseconds: so long ago, or a date; one without a zone is this machine's. */
export function toTimeMs(text: string): number {
  const [, count, unit] = /^(\d+)\s*([smhdw])(?:\s+ago)?$/i.exec(text.trim()) ?? [];
  if (count !== undefined && unit !== undefined) {
    const ms = Date.now() - Number(count) * units[unit.toLowerCase() as keyof typeof units] * 1000;
    if (ms > 0) return ms;
  }
  const date = /^\d{4}-\d\d-\d\d/.test(text.trim()) ? Date.parse(text.trim()) : Number.NaN;
  if (!Number.isNaN(date)) return date;
  throw new InvalidArgumentError(
    "Write how long ago, such as 30m, 2h or 7d, or a date such as 2026-11-30 or 2026-11-30T18:00Z.",
  );
}
