import type { Attributes } from "@opentelemetry/api";
import type { AgentRunInput } from "../../core/agent-run.ts";
import type { ModelSource } from "../../core/definition.ts";
import type { Usage } from "../../core/status.ts";
import { toOneLine } from "../../core/text.ts";
import { delegationToolNames, toolNames } from "../../core/tools.ts";
import type { RequestEnding } from "../thread/protocol.ts";

/** Where an attempt is carried out. */
export interface AttemptPlace {
  attempt: number;
  workflowId: string;
  workflowRunId: string;
  activityId: string;
}

/** OpenTelemetry's own names for providers; the others keep ours. */
const providerNames: Record<string, string> = {
  "amazon-bedrock": "aws.bedrock",
  azure: "azure.ai.openai",
  google: "gcp.gemini",
  "google-vertex": "gcp.vertex_ai",
  mistral: "mistral_ai",
  moonshotai: "moonshot_ai",
  "moonshotai-cn": "moonshot_ai",
  xai: "x_ai",
};

const finishReasons: Record<string, string> = { toolUse: "tool_call" };
const MAX_NAME_CHARACTERS = 100;
const knownTools: ReadonlySet<string> = new Set([...toolNames, ...delegationToolNames]);

/** A name that a model, a server or a file chose, fit for a span. */
export function toSpanWord(name: string): string {
  return toOneLine(name, MAX_NAME_CHARACTERS);
}

/** A tool's name for a span: a model may call whatever words it likes, and those are its own. */
export function toToolName(tool: string): string {
  return knownTools.has(tool) ? tool : "unknown";
}

export function toRunAttributes(run: AgentRunInput, place: AttemptPlace): Attributes {
  return {
    "gen_ai.operation.name": "invoke_agent",
    ...toModelAttributes(run.model),
    "gen_ai.agent.name": toSpanWord(run.agent),
    "gen_ai.conversation.id": run.sessionId,
    "subagents.role": run.role,
    "subagents.run.id": run.runId,
    ...(run.role === "delegate" ? { "subagents.delegation.id": run.chain } : {}),
    "subagents.turn": run.turn,
    "subagents.attempt": place.attempt,
    "temporal.workflow.id": place.workflowId,
    "temporal.workflow.run_id": place.workflowRunId,
    "temporal.activity.id": place.activityId,
  };
}

export function toRequestAttributes(run: AgentRunInput, tries: number): Attributes {
  return {
    "gen_ai.operation.name": "chat",
    ...toModelAttributes(run.model),
    "gen_ai.request.stream": true,
    "gen_ai.conversation.id": run.sessionId,
    "subagents.request.try": tries,
  };
}

export function toToolAttributes(run: AgentRunInput, tool: string, callId: string): Attributes {
  return {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": toToolName(tool),
    "gen_ai.tool.call.id": toSpanWord(callId),
    "gen_ai.tool.type": "function",
    "gen_ai.conversation.id": run.sessionId,
  };
}

/** Numbers and names alone: what was said never enters a span. */
export function toAnswerAttributes({
  stopReason,
  responseId,
  responseModel,
  usage,
}: RequestEnding): Attributes {
  return {
    "gen_ai.response.finish_reasons": [finishReasons[stopReason] ?? stopReason],
    ...(responseId === undefined ? {} : { "gen_ai.response.id": toSpanWord(responseId) }),
    ...(responseModel === undefined ? {} : { "gen_ai.response.model": toSpanWord(responseModel) }),
    ...toUsageAttributes(usage),
  };
}

/** Tokens as OpenTelemetry counts them: those that came from or went to a cache are part of the input. */
export function toUsageAttributes({ input, output, cacheRead, cacheWrite }: Usage): Attributes {
  return {
    "gen_ai.usage.input_tokens": input + cacheRead + cacheWrite,
    "gen_ai.usage.output_tokens": output,
    ...(cacheRead > 0 ? { "gen_ai.usage.cache_read.input_tokens": cacheRead } : {}),
    ...(cacheWrite > 0 ? { "gen_ai.usage.cache_creation.input_tokens": cacheWrite } : {}),
  };
}

/** The model as a span's name says it. */
export function toModelName(model: ModelSource): string {
  return model.kind === "script" ? "script" : toSpanWord(model.id);
}

function toModelAttributes(model: ModelSource): Attributes {
  const name = { "gen_ai.request.model": toModelName(model) };
  if (model.kind === "script") return { "gen_ai.provider.name": "script", ...name };
  const provider = providerNames[model.provider] ?? toSpanWord(model.provider);
  return { "gen_ai.provider.name": provider, ...name, ...toServerAttributes(model.baseUrl) };
}

/** The host alone: an address may hold a key. */
function toServerAttributes(baseUrl: string | undefined): Attributes {
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return {};
  const { hostname, port, protocol } = new URL(baseUrl);
  return {
    "server.address": hostname,
    "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
  };
}
