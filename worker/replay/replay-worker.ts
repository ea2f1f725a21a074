import { type ReplayWorkerOptions, Worker } from "@temporalio/worker";
import type { History } from "./history.ts";

/** How a replay went: well, or why not, in the SDK's words. */
export type Replayed =
  | { kind: "replays" }
  | { kind: "diverged" | "code-failed" | "sdk-failed" | "stuck"; message: string; stack?: string };

/** A history that takes longer has met something that never answers; a hundred events take some ten milliseconds. */
const PATIENCE_MS = 20_000;
const PATIENCE_AN_EVENT_MS = 10;

interface Work {
  history: History;
  workflowId: string;
}

/**
 * Replay histories one after the other in one of the SDK's replay workers. One that fails does not hurt the next; after one that never ends, another
 * worker is made.
 */
export class ReplayWorker {
  readonly #options: ReplayWorkerOptions;
  #running: Running | undefined;
  /** What kept it from starting at all. */
  startError: unknown;

  constructor(options: ReplayWorkerOptions) {
    // As in production, workflow code runs in a thread and within a time limit: code that never ends can't take the process with it.
    this.#options = { ...options, debugMode: false } as ReplayWorkerOptions;
  }

  /** @throws whatever keeps a replay worker from starting at all, such as a bundle that is none. */
  async replay(
    history: History,
    workflowId: string,
    patienceMs = PATIENCE_MS + PATIENCE_AN_EVENT_MS * (history.events?.length ?? 0),
  ): Promise<Replayed> {
    this.#running ??= start(this.#options);
    const { queue, results } = this.#running;
    queue.push({ history, workflowId });
    const { promise: late, resolve } = Promise.withResolvers<"late">();
    const timer = setTimeout(() => resolve("late"), patienceMs);
    try {
      const result = await Promise.race([results.next(), late]);
      if (result === "late") {
        // It can't be ended from here; it ends with the process.
        this.#running = undefined;
        return { kind: "stuck", message: `the replay did not end within ${patienceMs / 1000} s` };
      }
      return result.done
        ? { kind: "sdk-failed", message: "the replay ended early" }
        : toReplayed(result.value.error);
    } catch (error) {
      this.#running = undefined;
      // Once it has asked for a history, its own making is over: the history is at fault.
      if (!queue.isTaken) {
        this.startError = error;
        throw error;
      }
      return { kind: "sdk-failed", message: error instanceof Error ? error.message : String(error) };
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    this.#running?.queue.push(undefined);
    await this.#running?.results.next();
    this.#running = undefined;
  }
}

/** One of the SDK's replay workers, and what it is fed from. */
interface Running {
  queue: WorkQueue;
  results: ReturnType<typeof Worker.runReplayHistories>;
}

function start(options: ReplayWorkerOptions): Running {
  const queue = new WorkQueue();
  return { queue, results: Worker.runReplayHistories(options, queue.take()) };
}

/** Hands over one piece of work at a time, as the SDK asks for it. */
class WorkQueue {
  #next = Promise.withResolvers<Work | undefined>();
  isTaken = false;

  /** Undefined ends it. */
  push(work: Work | undefined): void {
    this.#next.resolve(work);
  }

  async *take(): AsyncGenerator<Work> {
    for (;;) {
      const work = await this.#next.promise;
      if (work === undefined) return;
      this.#next = Promise.withResolvers();
      this.isTaken = true;
      yield work;
    }
  }
}

function toReplayed(error: Error | undefined): Replayed {
  if (error === undefined) return { kind: "replays" };
  const { message, stack } = readFailure(error.message);
  const details = { message, ...(stack === "" ? {} : { stack }) };
  if (error.name === "DeterminismViolationError" || message.includes("[TMPRL1100]"))
    return { kind: "diverged", ...details };
  return { kind: error.message.includes("workflow task failure") ? "code-failed" : "sdk-failed", ...details };
}

/** The SDK hands on what its native side prints of a failure, in Rust's notation. */
function readFailure(text: string): { message: string; stack: string } {
  const message = /\bmessage: "((?:[^"\\]|\\.)*)"/s.exec(text)?.[1];
  const stack = /\bstack_trace: "((?:[^"\\]|\\.)*)"/s.exec(text)?.[1] ?? "";
  if (message === undefined) return { message: text, stack: "" };
  return { message: unescapeRust(message), stack: unescapeRust(stack) };
}

function unescapeRust(text: string): string {
  return text.replace(/\\(?:u\{([0-9a-f]{1,6})\}|(.))/gs, (_, code: string | undefined, letter: string) => {
    if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16));
    return { n: "\n", r: "\r", t: "\t", "0": "\0" }[letter] ?? letter;
  });
}
