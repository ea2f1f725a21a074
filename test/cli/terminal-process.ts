import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Machine } from "./cli-process.ts";
import { waitUntil } from "./wait-until.ts";

const MAIN = fileURLToPath(new URL("../../client/cli/main.ts", import.meta.url));
const COLUMNS = 120;
const ROWS = 40;

/** A command at a real terminal, a pseudo-terminal of the kernel's, and the person in front of it. */
export interface TerminalCommand {
  child: ChildProcess;
  /** Press keys. */
  type(keys: string): void;
  /** What is on the screen now, and everything that has scrolled out of it above. */
  screen(): string;
  waitFor(text: string, timeoutMs?: number): Promise<void>;
  code: Promise<number | null>;
}

export function startAtTerminal(
  machine: Pick<Machine, "environment" | "workspace">,
  ...words: string[]
): TerminalCommand {
  const command = [process.execPath, MAIN, ...words].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  const shell = `stty cols ${COLUMNS} rows ${ROWS}; exec ${command.join(" ")}`;
  const child = spawn("script", ["-qfec", shell, "/dev/null"], {
    env: { ...machine.environment, SHELL: "/bin/sh" },
    cwd: machine.workspace,
    stdio: ["pipe", "pipe", "inherit"],
  });
  started.add(child);
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const { promise: code, resolve } = Promise.withResolvers<number | null>();
  child.once("close", resolve);
  const screen = () => toScreen(output);
  return {
    child,
    type: (keys) => void child.stdin.write(keys),
    screen,
    waitFor: async (text, timeoutMs = 60_000) => {
      await waitUntil(() => screen().includes(text), timeoutMs).catch(() => {
        throw new Error(`${JSON.stringify(text)} did not come; the screen:\n${screen()}`);
      });
    },
    code,
  };
}

const started = new Set<ChildProcess>();

/** Hang up what a failed test left running. */
export function endTerminals(): void {
  for (const child of started) child.kill("SIGKILL");
}

/** Show what a terminal would after some output. @throws Error for a control that the command line never writes itself. */
function toScreen(output: string): string {
  const lines = [""];
  let row = 0;
  let column = 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  for (const [part] of output.matchAll(/\u001b\[\d*[A-Z]|[\r\n]|[^\u001b\r\n]+|\u001b/g)) {
    const line = lines[row] ?? "";
    if (part === "\r") column = 0;
    else if (part === "\n") {
      row += 1;
      lines[row] ??= "";
    } else if (part.startsWith("\u001b[") && part.endsWith("A"))
      row = Math.max(0, row - (Number(part.slice(2, -1)) || 1));
    else if (part === "\u001b[K") lines[row] = line.slice(0, column);
    else if (part === "\u001b[J") {
      lines[row] = line.slice(0, column);
      lines.length = row + 1;
    } else if (part.startsWith("\u001b")) throw new Error(`a stray control: ${JSON.stringify(part)}`);
    else {
      lines[row] = line.slice(0, column).padEnd(column) + part + line.slice(column + part.length);
      column += part.length;
    }
  }
  return lines.join("\n");
}
