import { type SessionPort, SessionRefusal } from "../../core/session-port.ts";
import {
  describeProblems,
  taskInputSchema,
  taskStopInputSchema,
  taskWaitInputSchema,
} from "../../core/task-calls.ts";
import { toTaskListText, toTaskStartedText, toTaskStopText } from "../../core/task-list.ts";
import { toTaskWaitText } from "../../core/task-wait.ts";
import type { DelegationToolName } from "../../core/tools.ts";
import type { TraceContext } from "../../core/trace-context.ts";

export interface DelegationCall {
  tool: DelegationToolName;
  input: unknown;
  /** Stable over retries and resumed attempts. */
  callKey: string;
  /** The session's turn. */
  turn: number;
  /** What a delegate's spans belong under. */
  trace?: TraceContext | undefined;
}

export interface DelegationAnswer {
  text: string;
  isError: boolean;
}

/** Carry out one of the main agent's delegation tools on its session. A refused call is an answer; nothing has been started then. */
export async function callDelegationTool(
  session: SessionPort,
  call: DelegationCall,
  signal: AbortSignal,
): Promise<DelegationAnswer> {
  try {
    return { text: await carryOut(session, call, signal), isError: false };
  } catch (error) {
    if (error instanceof SessionRefusal) return { text: error.message, isError: true };
    if (signal.aborted) return { text: `${call.tool} was interrupted by the end of the turn`, isError: true };
    const reason = error instanceof Error ? error.message : String(error);
    return {
      text: `${call.tool} could not be carried out: ${reason}. Its delegates are not affected.`,
      isError: true,
    };
  }
}

async function carryOut(
  session: SessionPort,
  { tool, input, callKey, turn, trace }: DelegationCall,
  signal: AbortSignal,
): Promise<string> {
  switch (tool) {
    case "Task": {
      const task = { input: parse(taskInputSchema, input), callKey, turn };
      const traced = trace === undefined ? task : { ...task, trace };
      return toTaskStartedText(await session.task(traced, callKey));
    }
    case "TaskWait": {
      const answer = await session.taskWait({ input: parse(taskWaitInputSchema, input) }, callKey, signal);
      const running = answer.targets
        .filter((target) => target.status === "running")
        .map((target) => target.id);
      return toTaskWaitText(answer, await session.live(running));
    }
    case "TaskList": {
      const view = await session.view();
      const running = view.delegations
        .filter((record) => record.status === "running")
        .map((record) => record.id);
      return toTaskListText(view, await session.live(running));
    }
    case "TaskStop":
      return toTaskStopText(
        (await session.taskStop({ input: parse(taskStopInputSchema, input) }, callKey)).outcomes,
      );
  }
}

function parse<
  Schema extends typeof taskInputSchema | typeof taskWaitInputSchema | typeof taskStopInputSchema,
>(schema: Schema, input: unknown) {
  const parsed = schema.safeParse(input);
  if (!parsed.success) throw new SessionRefusal("Input.Invalid", describeProblems(parsed.error));
  return parsed.data as ReturnType<Schema["parse"]>;
}
