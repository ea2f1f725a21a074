import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { type ChatRequest, readChatRequest } from "./openai-server-transcript.ts";

/** One request as it came; refused ones have a `violation` and no handler sees them. */
interface ReceivedRequest {
  at: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: unknown;
  violation?: string;
}

/** The server's end of one request: a handler says through it what it likes, in the order it likes. */
interface Exchange {
  request: ChatRequest;
  headers: ReceivedRequest["headers"];
  /** Number of this request among all that came, from 0; refused ones count. */
  index: number;
  /** Aborts when the caller hangs up or the server is closed. */
  signal: AbortSignal;
  /** Send the headers of a stream; `chunk` and what builds on it do so by themselves. */
  open(headers?: Record<string, string>): void;
  /** Send one event with a choice's delta. */
  chunk(delta: Record<string, unknown>, finishReason?: string | null): void;
  text(delta: string): void;
  /** Send a tool call in as many fragments as given; one more than none. */
  call(index: number, id: string, name: string, argumentFragments: readonly string[]): void;
  /** Send the finish reason, the usage and the end of the stream. */
  finish(reason: string, usage?: { prompt_tokens: number; completion_tokens: number }): void;
  /** Send an event with any data. */
  event(data: unknown): void;
  /** Send bytes as they are, such as a comment `: ping\n\n`. */
  raw(text: string): void;
  /** End the response without a further word. */
  end(): void;
  /** Cut the connection. */
  cut(): void;
  /** Answer anything but a stream. */
  answer(status: number, body: unknown, headers?: Record<string, string>): void;
}

export type Handler = (exchange: Exchange) => void | Promise<void>;

export interface OpenAiServer {
  /** Root of the API, such as `http://127.0.0.1:41234/v1`. */
  baseUrl: string;
  requests: ReceivedRequest[];
  /** Answer from now on with these, one a request; the last one stays. */
  use(...handlers: Handler[]): void;
  close(): Promise<void>;
}

/**
 * Start a real HTTP server that speaks OpenAI's chat completions as a stream. Each handler answers one request, the last one all
 * that follow. A transcript that a strict provider would refuse is refused with 400 before a handler sees it.
 */
export async function startOpenAiServer(
  handlers: Handler | readonly Handler[],
  { port = 0 }: { port?: number } = {},
): Promise<OpenAiServer> {
  let queue: Handler[] = typeof handlers === "function" ? [handlers] : [...handlers];
  const requests: ReceivedRequest[] = [];
  const closing = new AbortController();
  const server = createServer((incoming, response) => {
    void serve(incoming, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(599);
      response.end(`the test's handler failed: ${String(error)}`);
    });
  });
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const read = readChatRequest(await buffer(incoming));
    const received: ReceivedRequest = { at: Date.now(), headers: incoming.headers, body: undefined };
    const index = requests.push(received) - 1;
    if ("problem" in read) {
      received.violation = read.problem;
      return toAnswer(response, 400, { error: { message: read.problem, type: "invalid_request_error" } });
    }
    received.body = read.request;
    const handler = queue.length > 1 ? queue.shift() : queue[0];
    if (handler === undefined) throw new Error("no handler");
    await handler(toExchange(read.request, incoming, response, index, closing.signal));
  };
  const bound = await listen(server, port);
  return {
    baseUrl: `http://127.0.0.1:${bound}/v1`,
    requests,
    use: (...next) => {
      queue = next;
    },
    close: async () => {
      closing.abort();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

function toExchange(
  request: ChatRequest,
  incoming: IncomingMessage,
  response: ServerResponse,
  index: number,
  closing: AbortSignal,
): Exchange {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const stream = toStream(response);
  return {
    request,
    headers: incoming.headers,
    index,
    signal: AbortSignal.any([gone.signal, closing]),
    ...stream,
    ...toChunks(request.model, index, stream),
    cut: () => response.socket?.resetAndDestroy(),
    answer: (status, body, headers) => toAnswer(response, status, body, headers),
  };
}

function toStream(response: ServerResponse): Pick<Exchange, "open" | "raw" | "event" | "end"> {
  const open = (headers: Record<string, string> = {}): void => {
    if (response.headersSent) return;
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache", ...headers });
    response.flushHeaders();
  };
  const raw = (text: string): void => {
    open();
    response.write(text);
  };
  return { open, raw, event: (data) => raw(`data: ${JSON.stringify(data)}\n\n`), end: () => response.end() };
}

function toChunks(
  model: string,
  index: number,
  { event, raw, end }: Pick<Exchange, "event" | "raw" | "end">,
): Pick<Exchange, "chunk" | "text" | "call" | "finish"> {
  const base = { id: `chatcmpl-${index}`, object: "chat.completion.chunk", created: 0, model };
  const chunk: Exchange["chunk"] = (delta, finishReason = null) =>
    event({ ...base, choices: [{ index: 0, delta, finish_reason: finishReason }] });
  return {
    chunk,
    text: (delta) => chunk({ content: delta }),
    call: (position, id, name, fragments) => {
      chunk({ tool_calls: [{ index: position, id, type: "function", function: { name, arguments: "" } }] });
      for (const fragment of fragments)
        chunk({ tool_calls: [{ index: position, function: { arguments: fragment } }] });
    },
    finish: (reason, usage = { prompt_tokens: 100, completion_tokens: 10 }) => {
      chunk({}, reason);
      const total_tokens = usage.prompt_tokens + usage.completion_tokens;
      event({ ...base, choices: [], usage: { ...usage, total_tokens } });
      raw("data: [DONE]\n\n");
      end();
    },
  };
}

function toAnswer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  const isText = typeof body === "string";
  response.writeHead(status, { "content-type": isText ? "text/html" : "application/json", ...headers });
  response.end(isText ? body : JSON.stringify(body));
}
