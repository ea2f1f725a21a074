import type { AgentEvent } from "@earendil-works/pi-agent-core";

/**
 * Pass on what an agent did and keep back what only the loop did: starts and ends of its invocations, and the empty shell of a request that failed. A
 * failing provider must not look like a living agent: starts are held until something follows them.
 */
export function createEventFilter(
  emit: (event: AgentEvent) => Promise<void>,
): (event: AgentEvent) => Promise<void> {
  let held: AgentEvent[] = [];
  return async (event) => {
    if (event.type === "agent_start" || event.type === "agent_end") return;
    if (event.type === "turn_start" || isAssistantStart(event)) {
      held.push(event);
      return;
    }
    if (isFailure(event)) {
      held = [];
      return;
    }
    const starts = held;
    held = [];
    for (const start of starts) await emit(start);
    await emit(event);
  };
}

function isAssistantStart(event: AgentEvent): boolean {
  return event.type === "message_start" && event.message.role === "assistant";
}

function isFailure(event: AgentEvent): boolean {
  if (event.type !== "message_end" && event.type !== "turn_end") return false;
  const { message } = event;
  return message.role === "assistant" && (message.stopReason === "error" || message.stopReason === "aborted");
}
