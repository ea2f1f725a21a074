import type { AssistantMessage, AssistantMessageEvent, Message, Tool } from "@earendil-works/pi-ai";
import type { ProviderFailure } from "../../activities/models/failure.ts";
import type { ModelRuntime } from "../../activities/models/runtime.ts";

export interface Heard {
  message: AssistantMessage;
  events: AssistantMessageEvent[];
  /** Classified where the message is an error. */
  failure: ProviderFailure | undefined;
  text: string;
}

/** Make one request through a runtime and hear it to its end. */
export async function ask(
  runtime: ModelRuntime,
  {
    messages = [toUser("Say something.")],
    tools = [readTool],
    signal,
    onEvent,
  }: {
    messages?: Message[];
    tools?: Tool[];
    signal?: AbortSignal;
    onEvent?: (event: AssistantMessageEvent) => void;
  } = {},
): Promise<Heard> {
  const system: Message = { role: "system", content: "You are terse.", toolsAdded: tools, timestamp: 0 };
  const context = { messages: [system, ...messages] } as Parameters<ModelRuntime["streamFn"]>[1];
  const stream = await runtime.streamFn(runtime.model, context, signal === undefined ? {} : { signal });
  const events: AssistantMessageEvent[] = [];
  for await (const event of stream) {
    events.push(event);
    onEvent?.(event);
  }
  const message = await stream.result();
  const failure = message.stopReason === "error" ? runtime.takeFailure(message) : undefined;
  return { message, events, failure, text: toText(message) };
}

export const readTool: Tool = {
  name: "Read",
  description: "Read a file.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

export function toUser(text: string): Message {
  return { role: "user", content: text, timestamp: 0 };
}

export function toText(message: AssistantMessage): string {
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
