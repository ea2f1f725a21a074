import { setTimeout as sleep } from "node:timers/promises";
import type { SessionView } from "../../core/messages.ts";
import { mapBounded } from "../map-bounded.ts";
import { SessionError, sessionErrorCodes } from "../session-error.ts";
import type { SessionHandle } from "../session-handle.ts";
import { endTurnWithSession } from "../story/settlement.ts";
import type { Host } from "./host.ts";
import { listDelegationsOfTurn, type Progress, type Snapshot } from "./progress.ts";
import type { TurnSummary } from "./summary.ts";

const LOOK_EVERY_MS = 1000;
const LOOK_PATIENCE_MS = 10_000;
/** A turn's end stops its delegates; this is for those that can't confirm it at once. */
const SETTLE_PATIENCE_MS = 20_000;
const ABORT_PATIENCE_MS = 30_000;
const READS_AT_ONCE = 5;

export interface Following {
  session: SessionHandle;
  turn: number;
  host: Host;
  progress: Progress;
  /** Called when nobody answers for the session. */
  onNoWorker: () => Promise<void>;
  /** Rejects once the turn can't go on from here. */
  failed: Promise<never>;
}

/** How a turn was seen to end. */
export interface TurnEnding {
  isInterrupted: boolean;
  /** Undefined if it was interrupted and its end could not be confirmed. */
  summary: TurnSummary | undefined;
  /** Whether the session takes another message, can only be looked at, or is not there any more. */
  session: "open" | "over" | "deleted";
}

/** What was last seen of a turn: all that is left of it if its session is deleted. */
interface Seen {
  view: SessionView | undefined;
}

/**
 * Show a turn until it and its delegates have ended. A first Ctrl-C aborts it and waits, bounded, for its end.
 *
 * Bears a worker or a server that is away: the turn itself goes on as soon as they are back.
 */
export async function followTurn(following: Following): Promise<TurnEnding> {
  const watching = new AbortController();
  const seen: Seen = { view: undefined };
  const showing = showTurn(following, seen, watching.signal);
  try {
    const isInterrupted = await waitForEnd(following);
    const summary = await summarize(following, isInterrupted ? ABORT_PATIENCE_MS : undefined);
    const isOpen = await following.session.isOpen(AbortSignal.timeout(LOOK_PATIENCE_MS)).catch(() => true);
    return { isInterrupted, summary, session: isOpen ? "open" : "over" };
  } catch (error) {
    if (!isDeleted(error) || seen.view === undefined) throw error;
    const summary = await summarizeDeleted(following, seen.view);
    return { isInterrupted: false, summary, session: "deleted" };
  } finally {
    watching.abort();
    await showing;
    following.progress.end();
  }
}

function isDeleted(error: unknown): boolean {
  return error instanceof SessionError && error.code === sessionErrorCodes.notFound;
}

/** What ended since the last look is shown too. */
function showEnd({ progress, turn }: Following, view: SessionView): void {
  progress.update({ view, turn, main: undefined, live: new Map() });
}

async function waitForEnd({ session, turn, host, progress, failed }: Following): Promise<boolean> {
  const { signal } = host.interruption;
  try {
    await Promise.race([session.waitForTurn(turn, signal), failed]);
    return false;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  progress.note("interrupted: the turn and its delegates are being ended; once more leaves at once");
  // Whether it could be confirmed shows in the turn's status.
  await session.abortTurn(AbortSignal.timeout(ABORT_PATIENCE_MS)).catch(() => undefined);
  return true;
}

/** Look at the turn once a second and show it. Never rejects. */
async function showTurn(following: Following, seen: Seen, signal: AbortSignal): Promise<void> {
  const { progress, onNoWorker } = following;
  let isAway = false;
  while (!signal.aborted) {
    try {
      const snapshot = await look(following, signal);
      if (signal.aborted) return;
      if (isAway) progress.note("the session answers again");
      isAway = false;
      seen.view = snapshot.view;
      progress.update(snapshot);
    } catch (error) {
      if (signal.aborted || isDeleted(error)) return;
      if (!isAway) progress.note("the session does not answer: its worker or the server is away");
      isAway = true;
      await onNoWorker().catch((error) =>
        progress.note(error instanceof Error ? error.message : String(error)),
      );
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function look({ session, turn }: Following, signal: AbortSignal): Promise<Snapshot> {
  // In this order: a run that ends in between is seen as running and its turn as ended, never the other way round.
  const main = await session.liveTurn();
  const view = await session.view(AbortSignal.any([signal, AbortSignal.timeout(LOOK_PATIENCE_MS)]));
  const running = listDelegationsOfTurn(view, turn).filter(({ status }) => status === "running");
  const live = await session.live(running.map(({ id }) => id));
  return { view, turn, main, live };
}

/** Read what the turn came to, once its delegates have settled or the patience is over. */
async function summarize(
  following: Following,
  patienceMs: number | undefined,
): Promise<TurnSummary | undefined> {
  const { session, turn } = following;
  const signal = patienceMs === undefined ? undefined : AbortSignal.timeout(patienceMs);
  try {
    const deadline = Date.now() + SETTLE_PATIENCE_MS;
    let view = await session.view(signal);
    while (hasRunning(view, turn) && Date.now() < deadline) {
      await sleep(LOOK_EVERY_MS / 4, undefined, { signal });
      view = await session.view(signal);
    }
    showEnd(following, view);
    const record = await session.turn(turn, signal);
    if (record === undefined) return undefined;
    const delegations = listDelegationsOfTurn(view, turn);
    const reports = await mapBounded(delegations, READS_AT_ONCE, ({ id }) => session.report(id, signal));
    return {
      sessionId: session.sessionId,
      turn: record,
      delegations: delegations.map((delegation, index) => reports[index] ?? delegation),
      nowMs: view.nowMs,
    };
  } catch (error) {
    if (patienceMs !== undefined) return undefined;
    throw error;
  }
}

/** Of a session that was deleted the delegates' own workflows still tell how they ended. */
async function summarizeDeleted(
  { session, turn, progress }: Following,
  view: SessionView,
): Promise<TurnSummary> {
  progress.note("the session was deleted from the server: its delegates are looked up one by one");
  const record = view.turns.find(({ number }) => number === turn);
  const deadline = Date.now() + SETTLE_PATIENCE_MS;
  let delegations = await session.lookUp(listDelegationsOfTurn(view, turn));
  while (delegations.some(({ status }) => status === "running") && Date.now() < deadline) {
    await sleep(LOOK_EVERY_MS);
    delegations = await session.lookUp(delegations);
  }
  const end = { how: "deleted" as const, atMs: Date.now(), reason: "", by: "" };
  if (record === undefined) throw toMissingTurn(session.sessionId, turn);
  return {
    sessionId: session.sessionId,
    turn: endTurnWithSession(record, end),
    delegations,
    nowMs: end.atMs,
  };
}

function toMissingTurn(sessionId: string, turn: number): SessionError {
  return new SessionError(
    sessionErrorCodes.notFound,
    `${sessionId} was deleted before its turn ${turn} was seen`,
  );
}

function hasRunning(view: Snapshot["view"], turn: number): boolean {
  return listDelegationsOfTurn(view, turn).some(({ status }) => status === "running");
}
