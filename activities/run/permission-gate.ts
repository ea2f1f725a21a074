import { createHash } from "node:crypto";
import type { AgentRunInput, Denial } from "../../core/agent-run.ts";
import type { PermissionRequest } from "../../core/permission-questions.ts";
import { decidePermission, type PermissionMode, permissionModes } from "../../core/permissions.ts";
import type { SessionPort } from "../../core/session-port.ts";
import { bound, toOneLine } from "../../core/text.ts";
import { type ToolName, toolNames, toolsWithEffects } from "../../core/tools.ts";
import { toPermissionTarget } from "../paths/permission-target.ts";
import type { Permit } from "../thread/protocol.ts";
import { askPerson } from "./permission-question.ts";

export interface GateContext {
  run: AgentRunInput;
  session: SessionPort;
  workspace: string;
  scratch: string;
  /** Puts on disk that a call is about to start. */
  writeStart(callId: string): Promise<void>;
  signal: AbortSignal;
  addDenial(denial: Denial): void;
  /** A question is open: the idle clock pauses. */
  openQuestion(): void;
  closeQuestion(): void;
  /** Rejects if another attempt has taken the run over. */
  assertOwner(): Promise<void>;
}

export interface GatedCall {
  /** Stable over attempts. */
  key: string;
  callId: string;
  tool: string;
  input: unknown;
}

type Verdict = { isAllowed: true } | { isAllowed: false; reason: string };

/**
 * Decide a tool call before it runs, on the main thread, where no tool or model can skip it.
 *
 * The session's mode is that of this moment. A call that may change something is written down as started before it is allowed: should the worker
 * be lost, it is known that it may have run.
 */
export async function permitCall(context: GateContext, call: GatedCall): Promise<Permit> {
  const tool = toolNames.find((name) => name === call.tool);
  if (tool === undefined) return { isAllowed: true, reason: "", allowedOutside: [] };
  const { target, inside } = await toPermissionTarget(tool, call.input, context);
  const verdict = await judge(context, call, tool, target, inside);
  if (!verdict.isAllowed) return deny(context, tool, target, verdict.reason);
  if (toolsWithEffects.has(tool)) await context.writeStart(call.callId);
  // After the writing: an attempt that takes over either reads that line or is seen here.
  await context.assertOwner();
  return { isAllowed: true, reason: "", allowedOutside: inside === false ? [target] : [] };
}

async function judge(
  context: GateContext,
  call: GatedCall,
  tool: ToolName,
  target: string,
  inside: boolean | undefined,
): Promise<Verdict> {
  const { scope, contract, canAsk } = context.run.permission;
  const decide = (mode: PermissionMode) => decidePermission({ mode, scope, contract, tool, inside });
  // Most calls are the same in every mode: their session need not be asked about its own.
  const decisions = permissionModes.map(decide);
  if (decisions.every(({ verdict }) => verdict === "allow")) return { isAllowed: true };
  const standing = await context.session.permission(call.key).catch(() => undefined);
  // What the present mode allows is not guessed.
  if (standing === undefined)
    return { isAllowed: false, reason: "the session could not be asked for its permission mode" };
  const decision = decide(standing.mode);
  if (decision.verdict === "allow") return { isAllowed: true };
  if (decision.verdict === "deny") return { isAllowed: false, reason: decision.reason };
  const isGranted = standing.allowances.some(
    (allowance) => allowance.tool === tool && allowance.target === toRequestTarget(target),
  );
  if (isGranted) return { isAllowed: true };
  if (!canAsk) return { isAllowed: false, reason: `${decision.reason}, and nobody is there to give it` };
  return await ask(context, toRequest(context.run, call, { tool, target, inside, reason: decision.reason }));
}

async function ask(context: GateContext, request: PermissionRequest): Promise<Verdict> {
  context.openQuestion();
  try {
    return await askPerson(context.session, request, context.signal);
  } finally {
    context.closeQuestion();
  }
}

function toRequest(
  run: AgentRunInput,
  call: GatedCall,
  about: { tool: ToolName; target: string; inside: boolean | undefined; reason: string },
): PermissionRequest {
  const { scope, contract } = run.permission;
  return {
    key: call.key,
    chain: run.chain,
    agent: run.agent,
    tool: about.tool,
    target: toRequestTarget(about.target),
    arguments: bound(JSON.stringify(call.input) ?? "", 4000, (leftOut) => `[${leftOut} characters left out]`),
    scope,
    ...(contract === undefined ? {} : { contract }),
    ...(about.inside === undefined ? {} : { inside: about.inside }),
    reason: about.reason,
  };
}

/** What a grant for the session is compared by: a command too long to be shown whole is told from others by its hash. */
function toRequestTarget(target: string): string {
  const hash = createHash("sha256").update(target).digest("hex");
  return bound(target, 2000, (leftOut) => `[${leftOut} characters left out; SHA-256 ${hash}]`);
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
