import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import type { z } from "zod";
import type { Tool, ToolContext, ToolResult } from "../../activities/tools/tool.ts";

/** Folders for file tools to work in: `repo` is the workspace, everything beside it is outside. */
export interface ToolRoom {
  root: string;
  workspace: string;
  scratch: string;
  context: ToolContext;
  /** Write a file below the root, with its folders. */
  put(path: string, content: string | Uint8Array): string;
  as(actor: string): ToolContext;
  remove(): void;
}

export function makeToolRoom(): ToolRoom {
  const root = realpathSync(mkdtempSync(`${tmpdir()}/tool-room-`));
  const [workspace, scratch, outputs, ledger] = ["repo", "scratch", "outputs", "ledger"].map((name) => {
    mkdirSync(`${root}/${name}`);
    return `${root}/${name}`;
  }) as [string, string, string, string];
  const context: ToolContext = {
    workspace,
    scratch,
    outputs,
    ledger,
    actor: "main agent",
    runMarker: `room-${process.pid}-${root}`,
    maxSeconds: 60,
    callId: "call-1",
  };
  return {
    root,
    workspace,
    scratch,
    context,
    put: (path, content) => {
      mkdirSync(dirname(`${root}/${path}`), { recursive: true });
      writeFileSync(`${root}/${path}`, content);
      return `${root}/${path}`;
    },
    as: (actor) => ({ ...context, actor }),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Call a tool as the agent thread does: input checked by the tool's own schema. */
export async function callTool<Schema extends z.ZodType>(
  tool: Tool<Schema>,
  input: unknown,
  context: ToolContext,
  signal: AbortSignal = new AbortController().signal,
): Promise<ToolResult> {
  return await tool.execute(tool.input.parse(input), context, signal);
}

export function makeFifo(path: string): void {
  execFileSync("mkfifo", [path]);
}
