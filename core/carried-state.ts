import type { Delegation } from "./delegation.ts";
import type { SessionState } from "./session.ts";
import { cutAt } from "./text.ts";

/** What may be carried from run to run, in UTF-8 bytes of JSON; the server warns at 512 KiB. */
const MAX_CARRIED_BYTES = 400 * 1024;

/**
 * Make a session's state fit for continue-as-new: plain JSON, bounded in bytes whatever the script of its texts.
 *
 * The latest reports stay; older ones are left behind and marked, to be read back from the state folder when they are asked for.
 */
export function toCarriedState(state: SessionState): SessionState {
  const answers = state.turns.length - 1;
  const turns = state.turns.map((turn, index) => ({
    ...turn,
    prompt: cutAt(turn.prompt, 300),
    answer: cutAt(turn.answer, index === answers ? 30_000 : 200),
  }));
  const slim = state.delegations.map(toSlim);
  let bytes = countJsonBytes({
    ...state,
    turns,
    delegations: slim.map((record) => ({ ...record, report: "" })),
  });
  const delegations = slim
    .toReversed()
    .map((delegation) => {
      const cost = countJsonBytes(delegation.report);
      if (bytes + cost > MAX_CARRIED_BYTES) return { ...delegation, report: "", isReportAway: true };
      bytes += cost;
      return delegation;
    })
    .toReversed();
  return { ...state, turns, delegations };
}

/** Shorten what may be long beside the report. */
function toSlim(delegation: Delegation): Delegation {
  const { error, denials } = delegation;
  return {
    ...delegation,
    ...(error === undefined ? {} : { error: { ...error, message: cutAt(error.message, 300) } }),
    denials: denials.slice(0, 5).map(({ tool, target, reason }) => ({
      tool,
      target: cutAt(target, 100),
      reason: cutAt(reason, 100),
    })),
  };
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
