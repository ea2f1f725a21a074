import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { findTemporalBinary } from "../support/temporal-binary.ts";
import { waitUntil } from "./wait-until.ts";

const MAIN = fileURLToPath(new URL("../../client/cli/main.ts", import.meta.url));

/** A person's machine: a state folder, a workspace and an environment of its own. */
export interface Machine {
  folder: string;
  workspace: string;
  environment: NodeJS.ProcessEnv;
  writeScript(name: string, script: unknown): string;
  start(...words: string[]): RunningCommand;
  /** Start a command that serves, with `--json`, and wait until it says that it is ready. */
  startReady(...words: string[]): Promise<RunningCommand>;
  run(...words: string[]): Promise<CommandResult>;
  /** End all that was started and still runs, as Ctrl-C would, and wait for it. */
  end(): Promise<void>;
}

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
  /** The lines of `--json`. */
  events: JsonLine[];
}
export type JsonLine = { type: string } & Record<string, unknown>;

export interface RunningCommand {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  events(): JsonLine[];
  result: Promise<CommandResult>;
}

export async function createMachine(): Promise<Machine> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "cli-")));
  const workspace = realpathSync(mkdtempSync(path.join(folder, "workspace-")));
  const { NODE_OPTIONS: _, TEMPORAL_ADDRESS: __, ...inherited } = process.env;
  const environment = {
    ...inherited,
    HOME: folder,
    XDG_STATE_HOME: path.join(folder, "state"),
    SUBAGENTS_SERVER_PORT: "0",
    PATH: `${path.dirname(await findTemporalBinary())}${path.delimiter}${process.env.PATH}`,
  };
  const started: RunningCommand[] = [];
  const start = (...words: string[]) => {
    const command = startCommand(words, environment, workspace);
    started.push(command);
    return command;
  };
  return {
    folder,
    workspace,
    environment,
    writeScript(name, script) {
      const file = path.join(folder, `${name}.json`);
      writeFileSync(file, JSON.stringify(script));
      return file;
    },
    start,
    async startReady(...words) {
      const command = start(...words, "--json");
      await waitUntil(() => command.events().some(({ type }) => type === "ready"), 60_000);
      return command;
    },
    async end() {
      for (const { child } of started) child.kill("SIGTERM");
      await Promise.all(started.map(({ result }) => result));
    },
    run: async (...words) => await start(...words).result,
  };
}

function startCommand(words: string[], environment: NodeJS.ProcessEnv, cwd: string): RunningCommand {
  const child = spawn(process.execPath, [MAIN, ...words], {
    env: environment,
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const { promise: result, resolve } = Promise.withResolvers<CommandResult>();
  child.once("close", (code) => {
    resolve({ code, stdout, stderr, events: words.includes("--json") ? toEvents(stdout) : [] });
  });
  return { child, stdout: () => stdout, stderr: () => stderr, events: () => toEvents(stdout), result };
}

function toEvents(stdout: string): JsonLine[] {
  return stdout
    .slice(0, stdout.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "")
    .map(parseLine);
}

/** Living processes, zombies left out, whose command line holds these words. */
export function listProcesses(words: string): number[] {
  return listPids().filter((pid) => {
    try {
      const isZombie = /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      return !isZombie && command.includes(words);
    } catch {
      return false;
    }
  });
}

function listPids(): number[] {
  return process.platform === "linux" ? readdirNumbers("/proc") : [];
}

function readdirNumbers(folder: string): number[] {
  return readdirSync(folder)
    .map(Number)
    .filter((number) => Number.isInteger(number));
}

function parseLine(line: string): JsonLine {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error(`this is no JSON: ${line}`);
  }
}
