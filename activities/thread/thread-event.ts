import type { AgentEvent } from "@earendil-works/pi-agent-core";
import type { Message, Usage as ProviderUsage } from "@earendil-works/pi-ai";
import { toOneLine } from "../../core/text.ts";
import { toCallTarget } from "../../core/transcript.ts";
import { toToolResult } from "./agent-loop.ts";
import type { ThreadEvent } from "./protocol.ts";

/** Shrink an AgentEvent to what crosses the threads. Every event crosses, whatever its kind: liveness knows no list of kinds. */
export function toThreadEvent(event: AgentEvent): ThreadEvent {
  switch (event.type) {
    case "message_start":
      return { type: "message_start", role: event.message.role };
    case "message_update": {
      const { assistantMessageEvent: update } = event;
      return {
        type: "message_update",
        part: toPart(update.type),
        delta: "delta" in update ? update.delta : "",
      };
    }
    case "message_end":
      return { type: "message_end", message: event.message as Message };
    case "tool_execution_start":
      return {
        type: "tool_execution_start",
        callId: event.toolCallId,
        tool: event.toolName,
        target: toOneLine(toCallTarget(event.args), 200),
      };
    case "tool_execution_update":
      return { type: "tool_execution_update", callId: event.toolCallId };
    case "tool_execution_end":
      return {
        type: "tool_execution_end",
        callId: event.toolCallId,
        tool: event.toolName,
        result: toToolResult(event),
        durationMs: event.durationMs,
      };
    case "turn_end":
      return { type: "turn_end", usage: toUsage(event.message as Message) };
    default:
      return { type: event.type };
  }
}

/** Events that must be on disk before the run goes on: what the model said, what a tool answered, that a turn is over. */
export function isDurable(event: ThreadEvent): boolean {
  return event.type === "message_end" || event.type === "tool_execution_end" || event.type === "turn_end";
}

function toPart(type: string): "text" | "thinking" | "toolcall" {
  if (type.startsWith("thinking")) return "thinking";
  return type.startsWith("toolcall") ? "toolcall" : "text";
}

function toUsage(message: Message): ProviderUsage | undefined {
  return message.role === "assistant" ? message.usage : undefined;
}
