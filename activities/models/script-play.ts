import { setImmediate, setTimeout } from "node:timers/promises";
import type { Api, AssistantMessage, Model, StopReason, ToolCall } from "@earendil-works/pi-ai";
import { AssistantMessageEventStream } from "@earendil-works/pi-ai/utils/event-stream";
import { cutAt } from "../../core/text.ts";
import type { ResponseEvidence } from "./evidence.ts";
import type { ScriptStep } from "./script-format.ts";

/** A token of a script, in UTF-16 code units; a surrogate pair is never split. */
const TOKEN_CHARACTERS = 4;

export interface Performance {
  step: ScriptStep;
  model: Model<Api>;
  /** Ids of the step's calls, in order. */
  callIds: readonly string[];
  inputTokens: number;
  /** Whether the step's `error` strikes this time. */
  isFailing: boolean;
  signal: AbortSignal | undefined;
  /** Filled as a request's would be, so that a scripted failure is classified as a real one. */
  evidence: ResponseEvidence;
}

/** Play one step as a stream of tokens. An abort ends it at once, also in the middle of a silence. */
export function playStep(performance: Performance): AssistantMessageEventStream {
  const stream = new AssistantMessageEventStream();
  const message = toEmptyMessage(performance.model, performance.inputTokens);
  const finish = (stopReason: "error" | "aborted", errorMessage: string): void => {
    Object.assign(message, { stopReason, errorMessage });
    stream.push({ type: "error", reason: stopReason, error: message });
    stream.end(message);
  };
  void play(performance, message, stream).then(
    (reason) => {
      if (reason === undefined) return finish("error", message.errorMessage ?? "");
      message.stopReason = reason;
      stream.push({ type: "done", reason, message });
      stream.end(message);
    },
    (error: unknown) =>
      performance.signal?.aborted ? finish("aborted", "Request was aborted") : finish("error", String(error)),
  );
  return stream;
}

/** Resolves to the stop reason of a step that went through, undefined for one that failed; rejects when aborted. */
async function play(
  performance: Performance,
  message: AssistantMessage,
  stream: AssistantMessageEventStream,
): Promise<Extract<StopReason, "stop" | "length" | "toolUse"> | undefined> {
  const { step, isFailing, evidence, signal } = performance;
  signal?.throwIfAborted();
  evidence.requests = 1;
  await wait(step.delaySeconds ?? 0, signal);
  if (step.silence === true) await wait(Number.POSITIVE_INFINITY, signal);
  if (typeof step.silence === "number") await wait(step.silence, signal);
  if (isFailing && step.error?.afterCharacters === undefined) return fail(performance, message);
  evidence.status = 200;
  stream.push({ type: "start", partial: message });
  if (step.thinking !== undefined) await speakThinking(performance, step.thinking, message, stream);
  const isBrokenOff = await speakText(performance, message, stream);
  if (!isBrokenOff) await speakCalls(performance, message, stream);
  if (isFailing) return fail(performance, message);
  return toEnd(step, message);
}

function toEnd(step: ScriptStep, message: AssistantMessage): "stop" | "length" | "toolUse" | undefined {
  if (step.stop === "content_filter") {
    message.rawStopReason = step.stop;
    message.errorMessage = "Provider finish_reason: content_filter";
    return undefined;
  }
  if (step.stop === "none") {
    message.errorMessage = "Stream ended without finish_reason";
    return undefined;
  }
  return step.stop ?? (message.content.some((block) => block.type === "toolCall") ? "toolUse" : "stop");
}

/** Leave on the wire's record what a provider would have left there. */
function fail({ step, evidence }: Performance, message: AssistantMessage): undefined {
  const { status, type, message: text = "", retryAfterSeconds } = step.error ?? {};
  message.errorMessage = status === undefined ? text : `${status}: ${text}`;
  if (retryAfterSeconds !== undefined) evidence.headers = { "retry-after": String(retryAfterSeconds) };
  if (status === undefined && type === undefined) {
    evidence.transportError = { code: "ECONNRESET", text };
    return undefined;
  }
  const error = { message: text, ...(type === undefined ? {} : { type }) };
  const isInStream = evidence.status !== undefined || status === undefined;
  evidence.status = isInStream ? 200 : status;
  evidence.body = isInStream
    ? `data: ${JSON.stringify({ error: { ...error, status_code: status } })}\n\n`
    : JSON.stringify({ error });
  return undefined;
}

async function speakThinking(
  performance: Performance,
  thinking: string,
  message: AssistantMessage,
  stream: AssistantMessageEventStream,
): Promise<void> {
  const block = { type: "thinking" as const, thinking: "" };
  const contentIndex = message.content.push(block) - 1;
  stream.push({ type: "thinking_start", contentIndex, partial: message });
  await speak(performance, thinking, message, (delta) => {
    block.thinking += delta;
    stream.push({ type: "thinking_delta", contentIndex, delta, partial: message });
  });
  stream.push({ type: "thinking_end", contentIndex, content: thinking, partial: message });
}

/** Whether the text was broken off by the step's error. */
async function speakText(
  performance: Performance,
  message: AssistantMessage,
  stream: AssistantMessageEventStream,
): Promise<boolean> {
  const { step, isFailing, signal } = performance;
  const text = step.text ?? "";
  const heard = isFailing ? cutAt(text, step.error?.afterCharacters ?? text.length) : text;
  const silence = typeof step.silence === "object" ? step.silence : undefined;
  const before = silence === undefined ? heard : cutAt(heard, silence.afterCharacters);
  const block = { type: "text" as const, text: "" };
  const contentIndex = step.text === undefined ? -1 : message.content.push(block) - 1;
  if (contentIndex >= 0) stream.push({ type: "text_start", contentIndex, partial: message });
  const say = (delta: string): void => {
    block.text += delta;
    stream.push({ type: "text_delta", contentIndex, delta, partial: message });
  };
  await speak(performance, before, message, say);
  if (silence !== undefined) await wait(silence.seconds ?? Number.POSITIVE_INFINITY, signal);
  await speak(performance, heard.slice(before.length), message, say);
  if (heard.length < text.length) return true;
  if (contentIndex >= 0) stream.push({ type: "text_end", contentIndex, content: text, partial: message });
  return false;
}

async function speakCalls(
  performance: Performance,
  message: AssistantMessage,
  stream: AssistantMessageEventStream,
): Promise<void> {
  for (const [index, call] of (performance.step.calls ?? []).entries()) {
    const id = performance.callIds[index] ?? "";
    const block: ToolCall = { type: "toolCall", id, name: call.tool, arguments: {} };
    const contentIndex = message.content.push(block) - 1;
    stream.push({ type: "toolcall_start", contentIndex, partial: message });
    await speak(performance, JSON.stringify(call.input), message, (delta) =>
      stream.push({ type: "toolcall_delta", contentIndex, delta, partial: message }),
    );
    block.arguments = structuredClone(call.input);
    stream.push({ type: "toolcall_end", contentIndex, toolCall: block, partial: message });
  }
}

/** Say a text token by token at the step's pace; without one as fast as it is heard, yet without starving anybody. */
async function speak(
  { step, signal }: Performance,
  text: string,
  message: AssistantMessage,
  onToken: (token: string) => void,
): Promise<void> {
  let rest = text;
  for (let count = 0; rest !== ""; count++) {
    if (step.tokensPerSecond !== undefined) await wait(1 / step.tokensPerSecond, signal);
    else if (count % 16 === 15) await setImmediate();
    signal?.throwIfAborted();
    // The first character of a token may be a surrogate pair by itself.
    const token = cutAt(rest, TOKEN_CHARACTERS);
    rest = rest.slice(token.length);
    message.usage.output++;
    message.usage.totalTokens++;
    onToken(token);
  }
}

async function wait(forSeconds: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  if (forSeconds === 0) return;
  // A timer can't be set for ever: an endless silence is a row of long ones.
  const longestMs = 2 ** 31 - 1;
  for (let leftMs = forSeconds * 1000; leftMs > 0; leftMs -= longestMs) {
    await setTimeout(Math.min(leftMs, longestMs), undefined, signal === undefined ? {} : { signal });
  }
}

/** The beginning of any answer of a script. */
export function toEmptyMessage(model: Model<Api>, inputTokens: number): AssistantMessage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return {
    role: "assistant",
    content: [],
    api: model.api,
    provider: model.provider,
    model: model.id,
    usage: { input: inputTokens, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: inputTokens, cost },
    stopReason: "pending",
    timestamp: Date.now(),
  };
}
