import { randomInt, randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createBashTool } from "../../activities/tools/bash.ts";
import type { ToolContext, ToolResult } from "../../activities/tools/tool.ts";

export interface BashBench extends Disposable {
  context: ToolContext;
  run(command: string, timeoutSeconds?: number, signal?: AbortSignal): Promise<ToolResult & { ms: number }>;
}

/** A workspace and a Bash tool for it; `environment` stands for the worker's own. */
export function openBash(environment: Record<string, string | undefined> = process.env): BashBench {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "bash-tool-")));
  const folder = (name: string) => {
    mkdirSync(join(root, name));
    return join(root, name);
  };
  const context: ToolContext = {
    workspace: folder("workspace"),
    scratch: folder("scratch"),
    outputs: folder("outputs"),
    ledger: folder("ledger"),
    actor: "task-1 (fixer)",
    runMarker: `${root}#${randomUUID()}`,
    maxSeconds: 21_600,
    callId: "call_1",
  };
  const tool = createBashTool(() => environment);
  return {
    context,
    async run(command, timeoutSeconds, signal = new AbortController().signal) {
      const start = performance.now();
      const input = tool.input.parse({ command, timeoutSeconds });
      const result = await tool.execute(input, context, signal);
      return { ...result, ms: performance.now() - start };
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** A number of seconds that no other process of the machine sleeps: what is searched for in the command lines. */
export function toRareSleep(): string {
  return `6${randomInt(1_000_000, 9_999_999)}`;
}

/** Pids of living processes, zombies left out, whose command line holds the text. Knows nothing of marks. */
export function findByCommandLine(text: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter(
      (pid) =>
        pid !== process.pid &&
        isRunning(pid) &&
        readProc(pid, "cmdline").replaceAll("\0", " ").includes(text),
    );
}

export function isRunning(pid: number): boolean {
  const stat = readProc(pid, "stat");
  return stat !== "" && !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}

export async function until(isTrue: () => boolean, limitMs = 10_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!isTrue()) {
    if (performance.now() > deadline) throw new Error(`not true within ${limitMs} ms: ${isTrue}`);
    await delay(10);
  }
}
