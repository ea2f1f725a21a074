import { Worker } from "node:worker_threads";
import type {
  LoopEnding,
  RequestEnding,
  RequestName,
  Requests,
  ThreadEvent,
  ThreadStart,
  ToMain,
  ToThread,
} from "../thread/protocol.ts";

/** Answers to what an agent thread asks. A rejection is told to the thread as an error of its call. */
export type RequestHandlers = {
  [Name in RequestName]: (input: Requests[Name]["input"]) => Promise<Requests[Name]["output"]>;
};

export interface ThreadListeners {
  onEvent(event: ThreadEvent): void;
  onModel(label: string): void;
  onAnswered(ending: RequestEnding): void;
  onEnd(ending: LoopEnding): void;
  /** The thread died: a bug of ours, or it ran out of memory. */
  onCrash(error: Error): void;
}

/** Memory that one agent thread may use for its transcript and its tools. */
const MAX_HEAP_MB = 1024;
/** How long a thread is given to end in order before it is terminated. */
const STOP_PATIENCE_MS = 1_000;

/** How long its termination may take. */
const TERMINATION_PATIENCE_MS = 1_000;

/** The main thread's hold on one agent thread. */
export class ThreadHandle {
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  #isStopping = false;

  constructor(start: ThreadStart, handlers: RequestHandlers, listeners: ThreadListeners) {
    const entry = new URL(
      import.meta.url.endsWith(".ts") ? "../thread/entry.ts" : "../thread/entry.js",
      import.meta.url,
    );
    this.#worker = new Worker(entry, {
      workerData: start,
      execArgv: ["--no-warnings"],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
      name: `${start.run.chain} ${start.run.agent}`.slice(0, 60),
    });
    let hasEnded = false;
    this.#worker.on("message", (message: ToMain) => {
      if (message.type === "event") listeners.onEvent(message.event);
      else if (message.type === "model") listeners.onModel(message.label);
      else if (message.type === "answered") listeners.onAnswered(message.ending);
      else if (message.type === "request") void this.#answer(message, handlers);
      else {
        hasEnded = true;
        listeners.onEnd(message.ending);
      }
    });
    this.#worker.on("error", (error) =>
      listeners.onCrash(error instanceof Error ? error : new Error(String(error))),
    );
    this.#exited = new Promise((resolve) => {
      this.#worker.on("exit", (code) => {
        if (!hasEnded && !this.#isStopping)
          listeners.onCrash(new Error(`the agent thread exited with code ${code}`));
        resolve();
      });
    });
  }

  async #answer(message: Extract<ToMain, { type: "request" }>, handlers: RequestHandlers): Promise<void> {
    const handler = handlers[message.name] as (input: unknown) => Promise<unknown>;
    let answer: ToThread;
    try {
      answer = { type: "reply", id: message.id, output: await handler(message.input) };
    } catch (error) {
      answer = {
        type: "error",
        id: message.id,
        message: error instanceof Error ? error.message : String(error),
      };
    }
    this.#worker.postMessage(answer);
  }

  /** End the thread: in order if it can within a moment, else by termination, which a thread that spins can't resist. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#worker.postMessage({ type: "stop" } satisfies ToThread);
    await waitAtMost(this.#exited, STOP_PATIENCE_MS);
    // A thread within a file operation that hangs in the kernel can't be terminated: it is left to itself, and nothing of it is heard any more.
    await waitAtMost(this.#worker.terminate(), TERMINATION_PATIENCE_MS);
  }
}

async function waitAtMost(event: Promise<unknown>, patienceMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, patienceMs);
  });
  await Promise.race([event, patience]);
  clearTimeout(timer);
}
