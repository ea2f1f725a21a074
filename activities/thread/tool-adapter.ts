import type { AgentTool, AgentToolResult } from "@earendil-works/pi-agent-core";
import { z } from "zod";
import {
  describeProblems,
  taskInputSchema,
  taskStopInputSchema,
  taskWaitInputSchema,
} from "../../core/task-calls.ts";
import type { DelegationToolName } from "../../core/tools.ts";
import type { Tool, ToolContext } from "../tools/tool.ts";

/**
 * Make one of our tools usable for pi's loop. Input that the model got wrong is answered, never thrown.
 *
 * @param hideSecrets applied to what a call that failed says
 */
export function toAgentTool(
  tool: Tool,
  toContext: (callId: string) => ToolContext,
  hideSecrets: (text: string) => string,
): AgentTool {
  return {
    name: tool.name,
    label: tool.name,
    description: tool.description,
    parameters: toParameters(tool.input),
    async execute(callId, input, signal): Promise<AgentToolResult> {
      const parsed = tool.input.safeParse(input);
      if (!parsed.success)
        return toResult(hideSecrets(`${tool.name}: ${describeProblems(parsed.error)}`), true);
      const { text, isError } = await tool
        .execute(parsed.data, toContext(callId), signal ?? new AbortController().signal)
        .catch((error: unknown) => {
          throw new Error(hideSecrets(error instanceof Error ? error.message : String(error)), {
            cause: error,
          });
        });
      return toResult(isError ? hideSecrets(text) : text, isError);
    },
  };
}

const delegationTools: Record<DelegationToolName, { description: string; input: z.ZodType }> = {
  Task: {
    description:
      "Hand work to a delegate that runs in the background. Use it to explore several directions at once, to have a change reviewed by somebody who tries to refute it before it is committed, to have a fully specified change over several files made by fixer, to get the answer of a wide search without its material, and to work on many parts in batches. Answers at once with the delegation's id: go on working, and converge with TaskWait. Not for what a call or two of your own tools would do.",
    input: taskInputSchema,
  },
  TaskWait: {
    description:
      'Wait for delegates and read their reports. By default for all that run; mode "any" returns when minCompleted of them have ended. Ended delegates answer at once, as often as asked. When the time runs out nothing has failed: the unfinished ones keep working.',
    input: taskWaitInputSchema,
  },
  TaskList: {
    description:
      "List this session's delegations with status, time, turns, tools, tokens, and what each running one is doing now.",
    input: z.object({}),
  },
  TaskStop: {
    description:
      "Stop delegates that are not needed any more; what they have written so far is kept as a partial report.",
    input: taskStopInputSchema,
  },
};

/** Make the main agent's four delegation tools; `call` carries them out on the main thread. */
export function toDelegationTools(
  call: (
    tool: DelegationToolName,
    callId: string,
    input: unknown,
    signal: AbortSignal | undefined,
  ) => Promise<{ text: string; isError: boolean }>,
): AgentTool[] {
  return (Object.keys(delegationTools) as DelegationToolName[]).map((name) => ({
    name,
    label: name,
    description: delegationTools[name].description,
    parameters: toParameters(delegationTools[name].input),
    // In the order written: a TaskWait sees the Tasks before it, and only one update at a time is in flight.
    executionMode: "sequential",
    async execute(callId, input, signal): Promise<AgentToolResult> {
      const { text, isError } = await call(name, callId, input, signal);
      return toResult(text, isError);
    },
  }));
}

function toParameters(schema: z.ZodType): object {
  return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
}

function toResult(text: string, isError: boolean): AgentToolResult {
  return { content: [{ type: "text", text }], details: undefined, isError };
}
