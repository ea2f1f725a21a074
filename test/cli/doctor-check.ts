import type { CommandResult, JsonLine } from "./cli-process.ts";

/** What `doctor --json` found of one thing; undefined if it did not look at it. */
export function findCheck({ events }: CommandResult, check: string): JsonLine | undefined {
  return events.find((event) => event.check === check);
}
