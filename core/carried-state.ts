import type { Delegation } from "./delegation.ts";
import type { SessionState } from "./session.ts";
import { bound, cutAt } from "./text.ts";

/** What may be carried from run to run, in UTF-8 bytes of JSON; the server warns at 512 KiB. */
const MAX_CARRIED_BYTES = 480 * 1024;
/** The last turn's answer, whole in any script that takes up to three bytes a character: its host may ask for it right after. */
const MAX_LAST_ANSWER_BYTES = 300 * 1024;
/** Grants for the session, the latest first. */
const MAX_ALLOWANCES_BYTES = 16 * 1024;

/**
 * Make a session's state fit for continue-as-new: plain JSON, bounded in bytes whatever the script of its texts.
 *
 * The last answer stays whole; of the reports the latest stay and older ones are left behind and marked, to be read back from the state folder when they are
 * asked for. The definitions are read anew by the next run. No run is under way, so no question is open; what was answered stays in the history that ends.
 */
export function toCarriedState(state: SessionState): SessionState {
  const lastTurn = state.turns.length - 1;
  const turns = state.turns.map((turn, index) => ({
    ...turn,
    prompt: cutToBytes(turn.prompt, 200),
    answer:
      index === lastTurn ? boundToBytes(turn.answer, MAX_LAST_ANSWER_BYTES) : cutToBytes(turn.answer, 100),
    ...(turn.error === undefined
      ? {}
      : { error: { ...turn.error, message: cutToBytes(turn.error.message, 300) } }),
  }));
  const allowances = takeLatest(state.allowances, MAX_ALLOWANCES_BYTES);
  const bare = { ...state, catalogue: [], questions: [], allowances, turns };
  const slim = state.delegations.map(toSlim);
  let bytes = countJsonBytes({ ...bare, delegations: slim.map(leaveReport) });
  const delegations = slim
    .toReversed()
    .map((record) => {
      const cost = countJsonBytes(record.report);
      if (bytes + cost > MAX_CARRIED_BYTES) return leaveReport(record);
      bytes += cost;
      return record;
    })
    .toReversed();
  return { ...bare, delegations };
}

function leaveReport(record: Delegation): Delegation {
  return record.report === "" ? record : { ...record, report: "", reportState: "away" };
}

/** Shorten what may be long beside the report: a hundred records at their worst stay below the budget. */
function toSlim(delegation: Delegation): Delegation {
  const { error, denials } = delegation;
  return {
    ...delegation,
    description: cutToBytes(delegation.description, 160),
    ...(error === undefined ? {} : { error: { ...error, message: cutToBytes(error.message, 200) } }),
    denials: denials.slice(0, 1).map(({ tool, target, reason }) => ({
      tool: cutToBytes(tool, 20),
      target: cutToBytes(target, 100),
      reason: cutToBytes(reason, 100),
    })),
  };
}

function takeLatest<Item>(items: readonly Item[], limit: number): Item[] {
  const taken: Item[] = [];
  let bytes = 0;
  for (const item of items.toReversed()) {
    bytes += countJsonBytes(item);
    if (bytes > limit) break;
    taken.push(item);
  }
  return taken.toReversed();
}

/** Cut a text so that its JSON takes at most `limit` bytes, quotes included, without splitting a surrogate pair. */
function cutToBytes(text: string, limit: number): string {
  let short = cutAt(text, limit);
  while (countJsonBytes(short) > limit) short = cutAt(short, Math.floor(short.length * 0.8));
  return short;
}

/** The same, with a mark that says how much is missing. */
function boundToBytes(text: string, limit: number): string {
  if (countJsonBytes(text) <= limit) return text;
  const { length } = cutToBytes(text, limit - 200);
  return bound(
    text,
    length,
    (leftOut) => `\n[${leftOut} characters left out; the transcript has the whole text]`,
  );
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
