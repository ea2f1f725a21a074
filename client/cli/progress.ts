import type { LiveState } from "../../core/activity-text.ts";
import type { Delegation } from "../../core/delegation.ts";
import type { SessionView } from "../../core/messages.ts";

/** What is shown of a turn at one moment. */
export interface Snapshot {
  view: SessionView;
  turn: number;
  /** What the main agent is doing. */
  main: LiveState | undefined;
  live: ReadonlyMap<string, LiveState>;
}

/** Show a turn while it runs. */
export interface Progress {
  update(snapshot: Snapshot): void;
  /** Something worth a line of its own, such as a worker that was started again. */
  note(text: string): void;
  /** Leave the terminal in order. Nothing is shown afterwards. */
  end(): void;
}

/** Delegations that a turn started: those recorded since it began. */
export function listDelegationsOfTurn(view: SessionView, turn: number): Delegation[] {
  const startedAtMs = view.turns.find(({ number }) => number === turn)?.startedAtMs ?? 0;
  return view.delegations.filter((delegation) => delegation.startedAtMs >= startedAtMs);
}
