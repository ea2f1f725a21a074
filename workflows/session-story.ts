import { upsertMemo, upsertSearchAttributes } from "@temporalio/workflow";
import { toElapsedSeconds } from "../core/delegation.ts";
import { STATUS_SEARCH_ATTRIBUTE } from "../core/search-attributes.ts";
import type { Turn } from "../core/session.ts";
import { toOneLine } from "../core/text.ts";
import type { SessionContext } from "./session-context.ts";

/** A memo above 2 KiB is warned of by the server; each line may take three bytes a character. */
const MAX_MEMO_LINES = 10;
const MAX_LINE_CHARACTERS = 60;

/**
 * Write into the session's memo and search attributes how its latest turn ended and what its delegations came to. Unlike current details and queries they
 * can be read when no worker is there. Costs one event each a turn.
 */
export function recordStory(session: SessionContext, turn: Turn): void {
  const { delegations } = session.state;
  const lines = delegations.slice(-MAX_MEMO_LINES).map((record) => {
    const why = record.error === undefined ? "" : ` ${record.error.code}`;
    const seconds = Math.round(toElapsedSeconds(record, Date.now()));
    return `${record.id} ${toOneLine(`${record.agent}: ${record.status}${why}, ${seconds}s, ${record.description}`, MAX_LINE_CHARACTERS)}`;
  });
  const earlier = delegations.length - lines.length;
  upsertMemo({
    turn: `${turn.number}: ${turn.status}${turn.error === undefined ? "" : ` ${turn.error.code}`}`,
    delegations: earlier > 0 ? [`${earlier} earlier ones`, ...lines] : lines,
  });
  if (session.input.hasSearchAttributes)
    upsertSearchAttributes([{ key: STATUS_SEARCH_ATTRIBUTE, value: turn.status }]);
}
