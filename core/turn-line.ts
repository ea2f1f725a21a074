import type { Turn } from "./session.ts";

/** How a turn ended, as a session's memo holds it. */
export interface TurnLine {
  number: number;
  status: string;
  code?: string;
}

/** Write how a turn ended as one line of a memo: `2: failed NO_REPORT`. Lists and stories read it back. */
export function toTurnLine({ number, status, error }: Pick<Turn, "number" | "status" | "error">): string {
  return `${number}: ${status}${error === undefined ? "" : ` ${error.code}`}`;
}

/** Read the line of a memo; undefined for anything else. */
export function fromTurnLine(line: unknown): TurnLine | undefined {
  if (typeof line !== "string") return undefined;
  const [, number, status, code] = /^(\d+): (\w+)(?: (\w+))?$/.exec(line) ?? [];
  if (number === undefined || status === undefined) return undefined;
  return { number: Number(number), status, ...(code === undefined ? {} : { code }) };
}
