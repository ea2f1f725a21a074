import { z } from "zod";

/** What a strict provider of chat completions refuses with status 400. */

const toolCallSchema = z.object({
  id: z.string().min(1),
  type: z.literal("function"),
  function: z.object({ name: z.string().min(1), arguments: z.string() }),
});
const contentSchema = z.union([z.string(), z.array(z.looseObject({ type: z.string() })), z.null()]);
const messageSchema = z.discriminatedUnion("role", [
  z.looseObject({ role: z.literal("system"), content: contentSchema }),
  z.looseObject({ role: z.literal("developer"), content: contentSchema }),
  z.looseObject({ role: z.literal("user"), content: contentSchema }),
  z.looseObject({
    role: z.literal("assistant"),
    content: contentSchema.optional(),
    tool_calls: z.array(toolCallSchema).min(1).optional(),
  }),
  z.looseObject({ role: z.literal("tool"), tool_call_id: z.string().min(1), content: contentSchema }),
]);
const requestSchema = z.looseObject({
  model: z.string().min(1),
  stream: z.literal(true),
  messages: z.array(messageSchema).min(1),
  tools: z
    .array(
      z.looseObject({ type: z.literal("function"), function: z.looseObject({ name: z.string().min(1) }) }),
    )
    .min(1)
    .optional(),
});
export type ChatRequest = z.infer<typeof requestSchema>;
type ChatMessage = z.infer<typeof messageSchema>;

/** Read a request's body as strictly as the strictest provider; a problem is a sentence. */
export function readChatRequest(body: Uint8Array): { request: ChatRequest } | { problem: string } {
  let document: unknown;
  try {
    document = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (error) {
    return { problem: `the body is not JSON in UTF-8: ${String(error)}` };
  }
  const badText = findBadText(document, "body");
  if (badText !== undefined) return { problem: badText };
  const parsed = requestSchema.safeParse(document);
  if (!parsed.success) return { problem: z.prettifyError(parsed.error) };
  const problem = findUnpaired(parsed.data.messages) ?? findBadTools(parsed.data);
  return problem === undefined ? { request: parsed.data } : { problem };
}

function findBadText(value: unknown, place: string): string | undefined {
  if (typeof value === "string") {
    if (!value.isWellFormed()) return `${place} has a lone surrogate`;
    return value.includes("\0") ? `${place} has a NUL` : undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, child] of Object.entries(value)) {
    const problem = findBadText(child, `${place}.${key}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Every call is answered exactly once, right behind the message that made it, and nothing else is. */
function findUnpaired(messages: readonly ChatMessage[]): string | undefined {
  let open = new Set<string>();
  const seen = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") {
      if (!open.delete(message.tool_call_id)) {
        return `messages[${index}] answers "${message.tool_call_id}", which no call right before it has open`;
      }
      continue;
    }
    if (open.size > 0) return `messages[${index}]: tool calls without a result: ${[...open].join(", ")}`;
    if (message.role !== "assistant") continue;
    for (const call of message.tool_calls ?? []) {
      if (seen.has(call.id)) return `messages[${index}]: the call id "${call.id}" is used twice`;
      seen.add(call.id);
      const problem = findBadArguments(call.function.arguments);
      if (problem !== undefined) return `messages[${index}], call "${call.id}": ${problem}`;
    }
    open = new Set((message.tool_calls ?? []).map((call) => call.id));
    if ((message.content ?? "") === "" && open.size === 0) return `messages[${index}] is an empty answer`;
  }
  if (open.size > 0) return `tool calls without a result at the end: ${[...open].join(", ")}`;
  const last = messages.at(-1)?.role;
  return last === "user" || last === "tool"
    ? undefined
    : `the last message is by ${last}, not by user or tool`;
}

function findBadArguments(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? undefined
      : "the arguments are no object";
  } catch {
    return "the arguments are not JSON";
  }
}

function findBadTools({ tools = [] }: ChatRequest): string | undefined {
  const names = tools.map((tool) => tool.function.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? undefined : `the tool "${twice}" is declared twice`;
}
