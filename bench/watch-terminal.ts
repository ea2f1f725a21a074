import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Handler } from "../test/support/openai-server.ts";

const MAIN = fileURLToPath(new URL("../client/cli/main.ts", import.meta.url));
const FRAME_END = "\u001b[J";
/** `getconf CLK_TCK` on every Linux of today. */
const TICKS_A_SECOND = 100;

/** What was on the screen at one moment: of each delegate the latest word, which is the time at which it was said. */
export interface StampedFrame {
  atMs: number;
  stamps: ReadonlyMap<string, number>;
}

let said = 0;

/** Words said so far by all streams. */
export function countSaid(): number {
  return said;
}

/** A provider's stream of so many events a second, for ever; each says what time it is. */
export function speakTime(eventsASecond: number): Handler {
  return async (exchange) => {
    const startedAtMs = Date.now();
    for (let count = 0; !exchange.signal.aborted; ) {
      const due = ((Date.now() - startedAtMs) * eventsASecond) / 1000;
      for (; count < due; count += 1) {
        exchange.text(`${Date.now()} `);
        said += 1;
      }
      await sleep(1000 / eventsASecond, undefined, { signal: exchange.signal }).catch(() => undefined);
    }
  };
}

/** `watch` at a pseudo-terminal. */
export class WatchedTerminal {
  readonly #child: ChildProcess;
  #frames: StampedFrame[] = [];
  #rest = "";

  constructor(sessionId: string, address: string, folder: string) {
    const command = `stty cols 160 rows 40; exec '${process.execPath}' '${MAIN}' watch '${sessionId}' --address '${address}'`;
    this.#child = spawn("script", ["-qfec", command, "/dev/null"], {
      env: { ...process.env, HOME: folder, XDG_STATE_HOME: path.join(folder, "state"), SHELL: "/bin/sh" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => this.#take(text));
  }

  /** Delegates whose words are on the screen. */
  countSpeaking(): number {
    return this.#frames.at(-1)?.stamps.size ?? 0;
  }

  async collect(forMs: number): Promise<StampedFrame[]> {
    this.#frames = [];
    await sleep(forMs);
    return this.#frames;
  }

  /** Processor time of a process, its threads included. Default: of `watch`. */
  readCpuSeconds(pid: number = this.#watchPid): number {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
  }

  close(): void {
    this.#child.kill("SIGTERM");
  }

  get #watchPid(): number {
    const { pid } = this.#child;
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0]);
  }

  #take(text: string): void {
    const atMs = Date.now();
    const frames = (this.#rest + text).split(FRAME_END);
    this.#rest = frames.pop() ?? "";
    for (const frame of frames) this.#frames.push({ atMs, stamps: readStamps(frame) });
  }
}

function readStamps(frame: string): Map<string, number> {
  const stamps = new Map<string, number>();
  let id: string | undefined;
  for (const line of frame.split("\n")) {
    const row = /(task-\d+) hand/.exec(line)?.[1];
    const stamp = row === undefined ? line.match(/\b\d{13}\b/g)?.at(-1) : undefined;
    if (id !== undefined && stamp !== undefined) stamps.set(id, Number(stamp));
    id = row;
  }
  return stamps;
}
