import { type Delegation, toElapsedSeconds } from "./delegation.ts";
import { toGist } from "./report-gist.ts";
import type { Turn } from "./session.ts";
import { cutAtBytes, toOneLine } from "./text.ts";
import { toTurnLine } from "./turn-line.ts";

/** A memo above 2 KiB is warned of by the server; what the lines, and the quotes around them, may take of it. */
const MAX_LINES = 10;
const MAX_LINE_BYTES = 150;
const MAX_ANSWER_BYTES = 200;

/** What a session writes into its workflow's memo, to be read in lists without a query. */
export interface SessionMemo {
  turn: string;
  answer: string;
  delegations: string[];
}

/** Tell below 2 KiB how a session's latest turn ended and what its latest delegations came to, a line each. */
export function toSessionMemo(turn: Turn, delegations: readonly Delegation[], nowMs: number): SessionMemo {
  const lines = delegations.slice(-MAX_LINES).map((record) => toLine(record, nowMs));
  const earlier = delegations.length - lines.length;
  return {
    turn: toTurnLine(turn),
    answer: toBoundLine(turn.answer, MAX_ANSWER_BYTES),
    delegations: earlier > 0 ? [`${earlier} earlier ones`, ...lines] : lines,
  };
}

function toLine(record: Delegation, nowMs: number): string {
  const why = record.error === undefined ? "" : ` ${record.error.code}`;
  const seconds = Math.round(toElapsedSeconds(record, nowMs));
  const agent = toBoundLine(record.agent, 40);
  const purpose = toBoundLine(record.description, 60);
  const said = toBoundLine(toGist(record.report), MAX_LINE_BYTES);
  return toBoundLine(
    `${record.id} ${agent}: ${record.status}${why}, ${seconds}s, ${purpose}${said === "" ? "" : ` — ${said}`}`,
    MAX_LINE_BYTES,
  );
}

/** Bound by what the server counts, which is bytes of JSON. */
function toBoundLine(text: string, limitBytes: number): string {
  return cutAtBytes(toOneLine(text, limitBytes), limitBytes);
}
