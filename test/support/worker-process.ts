import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../client/cli/main.ts", import.meta.url));

export interface WorkerPlace {
  address: string;
  taskQueue: string;
  /** XDG_STATE_HOME. */
  stateHome: string;
  home: string;
  /** No file may grow beyond this: a full disk that hits this worker alone. */
  fileLimitBytes?: number;
}

/** Without a listener the signal that comes with the limit ends the process. */
const IGNORE_LIMIT_SIGNAL = "--import=data:text/javascript,process.on('SIGXFSZ',()=>{})";

/** A worker in a process of its own, as the command line starts it, so that it can be killed, stopped and started again. */
export class WorkerProcess {
  readonly spawnedAtMs = Date.now();
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #errors = "";

  private constructor(place: WorkerPlace) {
    const { NODE_OPTIONS: _, ...environment } = process.env;
    const words = [process.execPath, MAIN, "worker", "--json", "--task-queue", place.taskQueue];
    const { fileLimitBytes } = place;
    const [program = "", ...args] =
      fileLimitBytes === undefined
        ? words
        : ["sh", "-c", `ulimit -f ${Math.ceil(fileLimitBytes / 512)}; exec "$0" "$@"`, ...words];
    this.#child = spawn(program, args, {
      env: {
        ...environment,
        ...(fileLimitBytes === undefined ? {} : { NODE_OPTIONS: IGNORE_LIMIT_SIGNAL }),
        HOME: place.home,
        XDG_STATE_HOME: place.stateHome,
        TEMPORAL_ADDRESS: place.address,
        TEMPORAL_CONFIG_FILE: path.join(place.home, "no-such-file.toml"),
      },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = (this.#errors + text).slice(-4000);
    });
    this.#ended = once(this.#child, "exit");
  }

  /** Start a worker; it may not poll yet. Ready when it said so. */
  static async start(place: WorkerPlace): Promise<WorkerProcess> {
    const worker = new WorkerProcess(place);
    await worker.#untilReady();
    return worker;
  }

  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new Error("the worker has no process");
    return pid;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** What it wrote to its standard error lately. */
  get errors(): string {
    return this.#errors;
  }

  /** Send a signal that ends it and wait until it has ended. A no-op if it has. */
  async end(signal: "SIGKILL" | "SIGTERM" = "SIGKILL"): Promise<void> {
    if (this.isRunning) this.#child.kill(signal);
    await this.#ended;
  }

  /** Freeze it, all of its threads, as a suspended host would; what it has started goes on. */
  freeze(): void {
    this.#child.kill("SIGSTOP");
  }

  thaw(): void {
    this.#child.kill("SIGCONT");
  }

  async #untilReady(): Promise<void> {
    const { stdout } = this.#child;
    if (stdout === null) throw new Error("the worker has no output");
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    createInterface({ input: stdout }).on("line", (line) => {
      if (line.includes('"type":"ready"')) resolve();
      else if (line.includes('"type":"error"')) reject(new Error(line));
    });
    void this.#ended.then(() => reject(new Error(`the worker ended before it was ready: ${this.#errors}`)));
    await promise;
  }
}
