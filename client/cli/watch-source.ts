import { setTimeout as sleep } from "node:timers/promises";
import type { LiveState } from "../../core/activity-text.ts";
import type { SessionView } from "../../core/messages.ts";
import type { StateFolder } from "../../core/state-folder.ts";
import { freshen, LiveFiles } from "../live-files.ts";
import type { SessionClient, SessionSummary } from "../session-client.ts";
import type { SessionHandle } from "../session-handle.ts";
import type { Watched } from "./watch-row.ts";

const LOOK_EVERY_MS = 1000;
const VIEW_PATIENCE_MS = 4000;
/** A person waits no longer for the first picture. */
const FIRST_LOOK_MS = 1000;

export interface Watching {
  sessions: SessionClient;
  session: SessionHandle;
  summary: SessionSummary;
  stateFolder: StateFolder;
}

/** What is known of a session, kept fresh by looks at the server and at the files of this host's workers. Touches nothing. */
export class WatchSource {
  summary: SessionSummary;
  /** Whether the session's worker answered last time. */
  isAnswering = true;
  /** Why the server could not be asked last time. */
  serverProblem: string | undefined;
  readonly #watching: Watching;
  readonly #files: LiveFiles;
  #view: SessionView | undefined;
  #live = new Map<string, LiveState>();
  #lookedAtMs = 0;

  constructor(watching: Watching) {
    this.#watching = watching;
    this.#files = new LiveFiles(watching.stateFolder, watching.session.sessionId);
    this.summary = watching.summary;
  }

  /** Look once, so that there is something to show. A worker that does not answer is not waited for. */
  async start(signal: AbortSignal): Promise<void> {
    const patience = sleep(FIRST_LOOK_MS, undefined, { signal }).catch(() => undefined);
    const view = this.#lookAtView(signal);
    await Promise.all([Promise.race([view, patience]), this.#lookAtServer(signal)]);
    // The view says whom to look at.
    await this.#lookAtServer(signal);
  }

  /** Look again and again until the signal is aborted. A worker that does not answer holds up nothing but the view. */
  async keepLooking(signal: AbortSignal): Promise<void> {
    const repeat = async (look: (signal: AbortSignal) => Promise<void>) => {
      while (!signal.aborted) {
        await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
        if (!signal.aborted) await look.call(this, signal);
      }
    };
    await Promise.all([repeat(this.#lookAtView), repeat(this.#lookAtServer)]);
  }

  /** The latest that is known, at this moment. Cheap enough for every redraw. */
  see(): Watched {
    const nowMs = Date.now();
    const live = new Map(
      ["main", ...this.#toRunningIds()].flatMap((id) => {
        const state = freshen(this.#live.get(id), this.#files.read(id), this.#lookedAtMs);
        return state === undefined ? [] : [[id, state] as const];
      }),
    );
    return { isOpen: this.isOpen, view: this.#view, live, nowMs };
  }

  get isOpen(): boolean {
    return this.summary.status === "open";
  }

  /** Whether nothing of the session runs, as far as its worker has just said, or the server's records where there is none. */
  get isSettled(): boolean {
    const view = this.#view;
    if (view === undefined) return false;
    const isTurnRunning = view.turns.some(({ status }) => status === "running");
    return !isTurnRunning && view.delegations.every(({ status }) => status !== "running");
  }

  #toRunningIds(): string[] {
    const { delegations = [] } = this.#view ?? {};
    return delegations.filter(({ status }) => status === "running").map(({ id }) => id);
  }

  async #lookAtView(signal: AbortSignal): Promise<void> {
    const patience = AbortSignal.any([signal, AbortSignal.timeout(VIEW_PATIENCE_MS)]);
    try {
      this.#view = await this.#watching.session.view(patience);
      this.isAnswering = true;
    } catch {
      if (signal.aborted) return;
      this.isAnswering = false;
      const story = await this.#watching.session.story(signal).catch(() => undefined);
      this.#view = story?.view ?? this.#view;
    }
  }

  async #lookAtServer(signal: AbortSignal): Promise<void> {
    const { sessions, session } = this.#watching;
    const lookedAtMs = Date.now();
    try {
      this.summary = await sessions.describe(session.sessionId);
      this.serverProblem = undefined;
    } catch (error) {
      if (!signal.aborted) this.serverProblem = error instanceof Error ? error.message : String(error);
    }
    const [main, delegates] = await Promise.all([session.liveTurn(), session.live(this.#toRunningIds())]);
    this.#live = new Map([["main", main], ...delegates]);
    this.#lookedAtMs = lookedAtMs;
  }
}
