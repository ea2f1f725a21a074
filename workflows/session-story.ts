import { upsertMemo, upsertSearchAttributes } from "@temporalio/workflow";
import { type Delegation, toElapsedSeconds } from "../core/delegation.ts";
import { toGist } from "../core/report-gist.ts";
import { STATUS_SEARCH_ATTRIBUTE } from "../core/search-attributes.ts";
import type { Turn } from "../core/session.ts";
import { cutAtBytes, toOneLine } from "../core/text.ts";
import type { SessionContext } from "./session-context.ts";

/** A memo above 2 KiB is warned of by the server; what the lines, and the quotes around them, may take of it. */
const MAX_LINES = 10;
const MAX_LINE_BYTES = 150;
const MAX_ANSWER_BYTES = 200;

/**
 * Write into the session's memo and search attributes how its latest turn ended and what its delegations came to. Unlike current details and queries they
 * can be read when no worker is there. Costs one event each a turn.
 */
export function recordStory(session: SessionContext, turn: Turn): void {
  const { delegations } = session.state;
  const lines = delegations.slice(-MAX_LINES).map(toLine);
  const earlier = delegations.length - lines.length;
  upsertMemo({
    turn: `${turn.number}: ${turn.status}${turn.error === undefined ? "" : ` ${turn.error.code}`}`,
    answer: toBoundLine(turn.answer, MAX_ANSWER_BYTES),
    delegations: earlier > 0 ? [`${earlier} earlier ones`, ...lines] : lines,
  });
  if (session.input.hasSearchAttributes)
    upsertSearchAttributes([{ key: STATUS_SEARCH_ATTRIBUTE, value: turn.status }]);
}

function toLine(record: Delegation): string {
  const why = record.error === undefined ? "" : ` ${record.error.code}`;
  const seconds = Math.round(toElapsedSeconds(record, Date.now()));
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
