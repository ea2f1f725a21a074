import type { Message, Usage as ProviderUsage, ToolResultMessage } from "@earendil-works/pi-ai";
import type { AgentRunInput } from "../../core/agent-run.ts";
import type { FailureCode, Usage } from "../../core/status.ts";
import type { DelegationToolName } from "../../core/tools.ts";
import type { TraceContext } from "../../core/trace-context.ts";
import type { ProviderFailure } from "../models/failure.ts";
import type { ToolContext } from "../tools/tool.ts";

/** What the main thread gives to an agent thread as it starts. */
export interface ThreadStart {
  run: AgentRunInput;
  systemPrompt: string;
  /** The transcript so far, without system messages. */
  history: Message[];
  /** Whether `run.prompt` is in the history already. */
  hasPrompt: boolean;
  /** Set when the last assistant message has calls without results: the results that are there, and the calls to run again. */
  unfinished: { results: ToolResultMessage[]; rerun: string[] } | undefined;
  /** Turns that this run has finished in earlier attempts. */
  turns: number;
  /** Whether the history ends within a turn. */
  isTurnOpen: boolean;
  /** Whether the main thread makes spans: then it is asked before each request to the provider and told of its end. */
  isTraced: boolean;
  tools: Omit<ToolContext, "callId" | "allowedOutside" | "assertOwner" | "trace">;
}

/** An AgentEvent as it crosses the threads: deltas alone, never the growing message. */
export type ThreadEvent =
  | { type: "agent_start" | "turn_start" | "agent_end" }
  | { type: "message_start"; role: string }
  | { type: "message_update"; part: "text" | "thinking" | "toolcall"; delta: string }
  | { type: "message_end"; message: Message }
  | { type: "tool_execution_start"; callId: string; tool: string; target: string }
  | { type: "tool_execution_update"; callId: string }
  | {
      type: "tool_execution_end";
      callId: string;
      tool: string;
      result: ToolResultMessage;
      durationMs: number | undefined;
    }
  | { type: "turn_end"; usage: ProviderUsage | undefined };

/** How a loop ended, seen from inside. */
export type LoopEnding =
  | { kind: "done"; text: string }
  | { kind: "no-report" }
  | { kind: "turn-limit"; text: string }
  | { kind: "output-limit"; text: string }
  | { kind: "provider"; failure: ProviderFailure; tries: number }
  | { kind: "rate-limited"; failure: ProviderFailure; waitMs: number }
  | { kind: "aborted" };

export interface Permit {
  isAllowed: boolean;
  /** Why not. */
  reason: string;
  /** Resolved outside paths that this call may use. */
  allowedOutside: string[];
  /** What the call's processes belong under, where spans are made. */
  trace?: TraceContext;
}

/** How one request to the provider ended. No AgentEvent: it is no sign of life and moves no clock. */
export interface RequestEnding {
  stopReason: string;
  usage: Usage;
  responseId?: string;
  responseModel?: string;
  code?: FailureCode;
}

/** Questions that an agent thread asks and the main thread answers. */
export interface Requests {
  /** An event that must be on disk before the run goes on. */
  event: { input: ThreadEvent; output: undefined };
  permit: { input: { callId: string; tool: string; input: unknown }; output: Permit };
  delegation: {
    input: { callId: string; turn: number; tool: DelegationToolName; input: unknown };
    output: { text: string; isError: boolean };
  };
  /** May the run wait so long before it asks the provider again? */
  backoff: { input: { waitMs: number; nextTry: number; code: string }; output: { mayWait: boolean } };
  assertOwner: { input: undefined; output: undefined };
  /** A request to the provider begins: what does it carry? */
  request: { input: undefined; output: TraceContext | undefined };
}
export type RequestName = keyof Requests;

export type ToMain =
  | { type: "event"; event: ThreadEvent }
  | { type: "model"; label: string }
  | { type: "answered"; ending: RequestEnding }
  | {
      [Name in RequestName]: { type: "request"; id: number; name: Name; input: Requests[Name]["input"] };
    }[RequestName]
  | { type: "end"; ending: LoopEnding };

export type ToThread =
  | { type: "reply"; id: number; output: unknown }
  | { type: "error"; id: number; message: string }
  | { type: "stop" };
