import type { StreamFn } from "@earendil-works/pi-agent-core";
import type { AssistantMessage, Message } from "@earendil-works/pi-ai";

/**
 * Keep the ids of tool calls unique within a transcript. Some servers call every call `call_0`: results would be paired with the wrong call, and
 * a later call would be taken for one that has run already. An id that is new stays as it is;
 * some servers give none at all.
 */
export function withUniqueCallIds(streamFn: StreamFn): StreamFn {
  return async (model, context, options) => {
    // Before the stream begins: the loop adds the message that is being streamed to this very list.
    const used = new Set(context.messages.flatMap(listCallIds));
    const stream = await streamFn(model, context, options);
    const finish = stream.result.bind(stream);
    let unique: Promise<AssistantMessage> | undefined;
    stream.result = () => {
      unique ??= finish().then((message) => renameCalls(message, used));
      return unique;
    };
    return stream;
  };
}

function listCallIds(message: Message): string[] {
  if (message.role !== "assistant") return [];
  return message.content.flatMap((part) => (part.type === "toolCall" ? [part.id] : []));
}

function renameCalls(message: AssistantMessage, earlier: ReadonlySet<string>): AssistantMessage {
  const used = new Set(earlier);
  const content = message.content.map((part) => {
    if (part.type !== "toolCall") return part;
    const id = toUnusedId(part.id === "" ? "call" : part.id, used);
    used.add(id);
    return id === part.id ? part : { ...part, id };
  });
  return { ...message, content };
}

function toUnusedId(id: string, used: ReadonlySet<string>): string {
  if (!used.has(id)) return id;
  for (let number = 2; ; number++) {
    const candidate = `${id}-${number}`;
    if (!used.has(candidate)) return candidate;
  }
}
