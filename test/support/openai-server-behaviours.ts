import { setTimeout } from "node:timers/promises";
import type { Handler } from "./openai-server.ts";

/** Ready-made answers of a provider, good and bad. Anything else is a handler of one's own. */

/** A whole answer, token by token. */
export function reply(text: string): Handler {
  return (exchange) => {
    for (const token of text.match(/[\s\S]{1,8}/gu) ?? []) exchange.text(token);
    exchange.finish("stop");
  };
}

/** Tool calls, their arguments in small fragments as real providers send them. */
export function callTools(...calls: { id: string; name: string; input: Record<string, unknown> }[]): Handler {
  return (exchange) => {
    for (const [index, { id, name, input }] of calls.entries()) {
      exchange.call(index, id, name, JSON.stringify(input).match(/[\s\S]{1,5}/gu) ?? []);
    }
    exchange.finish("tool_calls");
  };
}

/** One token every `everyMs`, for ever if there is no end of `tokens`. */
export function drip(everyMs: number, tokens = Number.POSITIVE_INFINITY): Handler {
  return async (exchange) => {
    for (let count = 0; count < tokens && !exchange.signal.aborted; count++) {
      await pause(everyMs, exchange.signal);
      exchange.text(`token${count} `);
    }
    if (!exchange.signal.aborted) exchange.finish("stop");
  };
}

/** Takes the request and says nothing at all. */
export function hangBeforeHeaders(): Handler {
  return () => undefined;
}

/** Sends headers, the texts given, and nothing more. */
export function hangAfter(...texts: string[]): Handler {
  return (exchange) => {
    exchange.open();
    for (const text of texts) exchange.text(text);
  };
}

/** Sends the texts, then bytes that mean nothing, every `everyMs`, for ever. */
export function pingForever(everyMs: number, ...texts: string[]): Handler {
  return async (exchange) => {
    exchange.open();
    for (const text of texts) exchange.text(text);
    while (!exchange.signal.aborted) {
      exchange.raw(": ping\n\n");
      await pause(everyMs, exchange.signal);
    }
  };
}

/** Cuts the connection in the middle of an answer, or before the first byte if there is no text. */
export function cutAfter(...texts: string[]): Handler {
  return async (exchange) => {
    for (const text of texts) exchange.text(text);
    // What was written must leave before the reset discards it.
    if (texts.length > 0) await pause(50, exchange.signal);
    exchange.cut();
  };
}

/** Ends the stream in good order, yet without a finish reason. */
export function endWithoutReason(...texts: string[]): Handler {
  return (exchange) => {
    for (const text of texts) exchange.text(text);
    exchange.raw("data: [DONE]\n\n");
    exchange.end();
  };
}

export function finishWith(reason: string, ...texts: string[]): Handler {
  return (exchange) => {
    for (const text of texts) exchange.text(text);
    exchange.finish(reason);
  };
}

/** Refuses with a status, an error in OpenAI's form, and headers such as `retry-after`. */
export function refuse(
  status: number,
  error: { message: string; type?: string; code?: string | number } | string,
  headers: Record<string, string> = {},
): Handler {
  return (exchange) => exchange.answer(status, typeof error === "string" ? error : { error }, headers);
}

/** An error event in a stream that began well, after texts or after a complete tool call. */
export function errorEvent(
  error: Record<string, unknown>,
  {
    texts = [],
    call,
  }: { texts?: readonly string[]; call?: { id: string; name: string; input: object } } = {},
): Handler {
  return (exchange) => {
    for (const text of texts) exchange.text(text);
    if (call !== undefined) exchange.call(0, call.id, call.name, [JSON.stringify(call.input)]);
    exchange.event({ error });
    exchange.end();
  };
}

/** Pace of a server, not a wait of a test; ends early when the caller hangs up. */
async function pause(forMs: number, signal: AbortSignal): Promise<void> {
  await setTimeout(forMs, undefined, { signal }).catch(() => undefined);
}
