import { upsertMemo, upsertSearchAttributes } from "@temporalio/workflow";
import { STATUS_SEARCH_ATTRIBUTE } from "../core/search-attributes.ts";
import type { Turn } from "../core/session.ts";
import { toSessionMemo } from "../core/session-memo.ts";
import type { SessionContext } from "./session-context.ts";

/**
 * Write into the session's memo and search attributes how its latest turn ended and what its delegations came to. Unlike current details and queries they
 * can be read when no worker is there. Costs one event each a turn.
 */
export function recordStory(session: SessionContext, turn: Turn): void {
  upsertMemo({ ...toSessionMemo(turn, session.state.delegations, Date.now()) });
  if (session.input.hasSearchAttributes)
    upsertSearchAttributes([{ key: STATUS_SEARCH_ATTRIBUTE, value: turn.status }]);
}
