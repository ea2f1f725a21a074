import { mkdir, realpath, stat } from "node:fs/promises";
import type { AgentRunInput } from "../../core/agent-run.ts";
import { type StateFolder, toSessionFolder } from "../../core/state-folder.ts";
import type { ThreadStart } from "../thread/protocol.ts";

/** Make a run's folders and find the real paths that its tools work with. @throws Error if the workspace is not there. */
export async function openFolders(
  run: AgentRunInput,
  state: StateFolder,
  runMarker: string,
): Promise<ThreadStart["tools"]> {
  const workspace = await realpath(run.workspace).catch((error: Error) => {
    throw new Error(`the workspace ${run.workspace} is not there on this worker's host: ${error.message}`);
  });
  if (!(await stat(workspace)).isDirectory())
    throw new Error(`the workspace ${run.workspace} is not a folder`);
  const session = toSessionFolder(state, run.sessionId);
  for (const folder of [session.scratch, session.outputs, session.ledger])
    await mkdir(folder, { recursive: true, mode: 0o700 });
  return {
    workspace,
    scratch: await realpath(session.scratch),
    outputs: session.outputs,
    ledger: session.ledger,
    actor: run.role === "main" ? "the main agent" : `${run.chain} (${run.agent})`,
    runMarker,
    maxSeconds: run.limits.maxDurationSeconds,
  };
}

/** What marks the processes of one attempt: this installation, the session, the chain, the attempt. */
export function toRunMarker(state: StateFolder, run: AgentRunInput, attempt: number, nonce: string): string {
  return `${toChainMarker(state, run)}${attempt}:${nonce}`;
}

/** What the marks of all attempts of one chain begin with. */
export function toChainMarker(state: StateFolder, run: Pick<AgentRunInput, "sessionId" | "chain">): string {
  return `${JSON.stringify([state.root, run.sessionId, run.chain])}:`;
}
