import { type ReplayWorkerOptions, Worker } from "@temporalio/worker";
import type { History } from "./history.ts";

/** How a replay went: well, or why not, in the SDK's words. */
export type Replayed =
  | { kind: "replays" }
  | { kind: "diverged" | "code-failed" | "sdk-failed" | "stuck"; message: string; stack?: string };

/** A history that takes longer has met something that never answers. */
const PATIENCE_MS = 120_000;

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
  #results: ReturnType<typeof Worker.runReplayHistories> | undefined;
  #next = Promise.withResolvers<Work | undefined>();

  constructor(options: ReplayWorkerOptions) {
    // As in production, workflow code runs in a thread and within a time limit: code that never ends can't take the process with it.
    this.#options = { ...options, debugMode: false } as ReplayWorkerOptions;
  }

  /** @throws whatever keeps a replay worker from starting at all, such as a bundle that is none. */
  async replay(history: History, workflowId: string, patienceMs = PATIENCE_MS): Promise<Replayed> {
    this.#results ??= Worker.runReplayHistories(this.#options, this.#feed());
    this.#next.resolve({ history, workflowId });
    const { promise: late, resolve } = Promise.withResolvers<"late">();
    const timer = setTimeout(() => resolve("late"), patienceMs);
    try {
      const result = await Promise.race([this.#results.next(), late]);
      if (result === "late") {
        this.#forget();
        return { kind: "stuck", message: `the replay did not end within ${patienceMs / 1000} s` };
      }
      return result.done
        ? { kind: "sdk-failed", message: "the replay ended early" }
        : toReplayed(result.value.error);
    } catch (error) {
      this.#forget();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    this.#next.resolve(undefined);
    await this.#results?.next();
    this.#forget();
  }

  async *#feed(): AsyncGenerator<Work> {
    for (;;) {
      const work = await this.#next.promise;
      if (work === undefined) return;
      this.#next = Promise.withResolvers();
      yield work;
    }
  }

  #forget(): void {
    this.#results = undefined;
    this.#next = Promise.withResolvers();
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
