import type { Delegation } from "./delegation.ts";
import type { SessionState } from "./session.ts";
import { cutAt } from "./text.ts";

/** What may be carried from run to run, in UTF-8 bytes of JSON; the server warns at 512 KiB. */
const MAX_CARRIED_BYTES = 400 * 1024;
/** The last turn's answer, for a host that asks for it right after the session continued as new. */
const MAX_LAST_ANSWER_BYTES = 30 * 1024;

/** Grants for the session that are carried on; each holds a path or command of at most 2,000 characters. */
const MAX_CARRIED_ALLOWANCES = 5;

/**
 * Make a session's state fit for continue-as-new: plain JSON, bounded in bytes whatever the script of its texts.
 *
 * The latest reports stay; older ones are left behind and marked, to be read back from the state folder when they are asked for. The definitions
 * are read anew by the next run.
 */
export function toCarriedState(state: SessionState): SessionState {
  const lastTurn = state.turns.length - 1;
  const turns = state.turns.map((turn, index) => ({
    ...turn,
    prompt: cutToBytes(turn.prompt, 400),
    answer: cutToBytes(turn.answer, index === lastTurn ? MAX_LAST_ANSWER_BYTES : 200),
    ...(turn.error === undefined
      ? {}
      : { error: { ...turn.error, message: cutToBytes(turn.error.message, 400) } }),
  }));
  const slim = state.delegations.map(toSlim);
  // No run is under way, so no question is open; what was answered stays in the history that ends here.
  const allowances = state.allowances.slice(-MAX_CARRIED_ALLOWANCES);
  const bare = { ...state, catalogue: [], questions: [], allowances, turns };
  let bytes = countJsonBytes({
    ...bare,
    delegations: slim.map((record) => ({ ...record, report: "", isReportAway: true })),
  });
  const delegations = slim
    .toReversed()
    .map((record) => {
      const cost = countJsonBytes(record.report);
      if (bytes + cost > MAX_CARRIED_BYTES) return { ...record, report: "", isReportAway: true };
      bytes += cost;
      return record;
    })
    .toReversed();
  return { ...bare, delegations };
}

/** Shorten what may be long beside the report: a hundred records at their worst stay below the budget. */
function toSlim(delegation: Delegation): Delegation {
  const { error, denials } = delegation;
  return {
    ...delegation,
    description: cutToBytes(delegation.description, 400),
    ...(error === undefined ? {} : { error: { ...error, message: cutToBytes(error.message, 500) } }),
    denials: denials.slice(0, 3).map(({ tool, target, reason }) => ({
      tool: cutToBytes(tool, 20),
      target: cutToBytes(target, 150),
      reason: cutToBytes(reason, 150),
    })),
  };
}

/** Cut a text so that its JSON takes at most `limit` bytes, quotes included, without splitting a surrogate pair. */
function cutToBytes(text: string, limit: number): string {
  let short = cutAt(text, limit);
  while (countJsonBytes(short) > limit) short = cutAt(short, Math.floor(short.length * 0.8));
  return short;
}

/** Bytes of a value's JSON in UTF-8, counted without a text encoder: the workflow sandbox need not have one. */
export function countJsonBytes(value: unknown): number {
  let bytes = 0;
  for (const character of JSON.stringify(value)) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}
