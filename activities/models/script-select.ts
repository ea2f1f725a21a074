import type { AssistantMessage, TranscriptContext, UserMessage } from "@earendil-works/pi-ai";
import { getCurrentTools } from "@earendil-works/pi-ai/utils/transcript";
import { normalizeAgentName } from "../../core/names.ts";
import { toOneLine } from "../../core/text.ts";
import type { Script, ScriptStep } from "./script-format.ts";

export interface ScriptRole {
  role: "main" | "delegate";
  agent: string;
  task: string;
}

export type Selection =
  | {
      kind: "step";
      step: ScriptStep /** Answers given before this one. */;
      played: number /** Plays of the same step before this one. */;
      repeated: number;
    }
  | { kind: "none"; reason: string };

/**
 * Find the step to play from the transcript alone: as many steps are over as it has answers. So a replacement worker, a request
 * that is tried again and a continued session all come to the right step. Answers that failed don't count.
 */
export function selectStep(
  script: Script,
  role: ScriptRole,
  context: TranscriptContext,
  toolChoice: string | undefined,
): Selection {
  const steps = findSteps(script, role, context);
  if (steps.kind === "none") return steps;
  const played = context.messages.filter(
    (message) => message.role === "assistant" && isAnswer(message),
  ).length;
  const hasTools = toolChoice !== "none" && getCurrentTools(context.messages).length > 0;
  const closing = hasTools ? undefined : steps.steps.find((step) => step.closing);
  if (closing !== undefined) return { kind: "step", step: closing, played, repeated: 0 };
  let first = 0;
  for (const step of steps.steps.filter((candidate) => !candidate.closing)) {
    const times = step.repeat === true ? Number.POSITIVE_INFINITY : (step.repeat ?? 1);
    if (played < first + times) return { kind: "step", step, played, repeated: played - first };
    first += times;
  }
  const reason = `script ${script.file}: the steps of ${steps.name} are used up: ${first} there are, and step ${played + 1} was asked for`;
  return { kind: "none", reason };
}

function findSteps(
  script: Script,
  { role, agent, task }: ScriptRole,
  context: TranscriptContext,
): { kind: "steps"; name: string; steps: ScriptStep[] } | { kind: "none"; reason: string } {
  if (role === "main" && script.main !== undefined)
    return { kind: "steps", name: "main", steps: script.main };
  const parts = role === "main" ? undefined : script.agents.get(normalizeAgentName(agent));
  // A resumed delegate goes on with the part that it began, whatever its new task says.
  const words = toFirstPrompt(context) ?? task;
  const part =
    parts?.find(({ when }) => when === undefined || words.includes(when)) ??
    parts?.find(({ when }) => when !== undefined && task.includes(when));
  if (part !== undefined) return { kind: "steps", name: agent, steps: part.steps };
  if (script.default !== undefined)
    return { kind: "steps", name: `default, for ${agent},`, steps: script.default };
  const known = [...(script.main === undefined ? [] : ["main"]), ...script.agents.keys()].join(", ");
  const missing =
    parts === undefined
      ? `no steps for ${agent}`
      : `no part of ${agent} for the task "${toOneLine(task, 80)}"`;
  return {
    kind: "none",
    reason: `script ${script.file}: ${missing}, and no default; it has: ${known || "nothing"}`,
  };
}

function isAnswer({ stopReason }: AssistantMessage): boolean {
  return stopReason !== "error" && stopReason !== "aborted";
}

function toFirstPrompt(context: TranscriptContext): string | undefined {
  const prompt = context.messages.find((message): message is UserMessage => message.role === "user");
  const content = prompt?.content;
  if (content === undefined || typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}
