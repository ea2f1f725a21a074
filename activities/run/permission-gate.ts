import type { AgentRunInput, Denial } from "../../core/agent-run.ts";
import { decidePermission } from "../../core/permissions.ts";
import { toOneLine } from "../../core/text.ts";
import { type ToolName, toolNames, toolsWithEffects } from "../../core/tools.ts";
import { toPermissionTarget } from "../paths/permission-target.ts";
import type { Permit } from "../thread/protocol.ts";

export interface GateContext {
  run: AgentRunInput;
  workspace: string;
  scratch: string;
  /** Puts on disk that a call is about to start. */
  writeStart(callId: string): Promise<void>;
  addDenial(denial: Denial): void;
  /** Rejects if another attempt has taken the run over. */
  assertOwner(): Promise<void>;
}

/**
 * Decide a tool call before it runs, on the main thread, where no tool or model can skip it.
 *
 * A call that may change something is written down as started before it is allowed: should the worker be lost, it is known that it may have run.
 */
export async function permitCall(
  context: GateContext,
  call: { callId: string; tool: string; input: unknown },
): Promise<Permit> {
  const tool = toolNames.find((name) => name === call.tool);
  if (tool === undefined) return { isAllowed: true, reason: "", allowedOutside: [] };
  const { run, workspace, scratch } = context;
  const { target, inside } = await toPermissionTarget(tool, call.input, { workspace, scratch });
  const { mode, scope, contract, canAsk } = run.permission;
  const decision = decidePermission({ mode, scope, contract, tool, inside });
  if (decision.verdict === "allow") {
    if (toolsWithEffects.has(tool)) await context.writeStart(call.callId);
    // After the writing: an attempt that takes over either reads that line or is seen here.
    await context.assertOwner();
    return { isAllowed: true, reason: "", allowedOutside: inside === false ? [target] : [] };
  }
  const nobody = decision.verdict === "ask" && !canAsk ? ", and nobody is there to give it" : "";
  return deny(context, tool, target, `${decision.reason}${nobody}`);
}

function deny(context: GateContext, tool: ToolName, target: string, reason: string): Permit {
  const shown = toOneLine(target, 300);
  context.addDenial({ tool, target: shown, reason });
  return {
    isAllowed: false,
    reason: `${tool} ${shown} was not allowed and did not run: ${reason}. Do not try the same by another way; go on without it and say in your report what could not be done.`,
    allowedOutside: [],
  };
}
