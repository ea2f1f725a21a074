import type { FetchFunction } from "@earendil-works/pi-ai";
import type { Dispatcher } from "undici";
import { MAX_EVIDENCE_CHARACTERS, type ResponseEvidence, toTransportError } from "./evidence.ts";

/** Makes the `fetch` of one request, which writes down what it sees. */
export type Transport = (evidence: ResponseEvidence) => FetchFunction;

/**
 * Open the way to providers for one agent run.
 *
 * The platform's own `fetch` gives up after 300 s without a header or a byte; the idle clock alone may judge that, and its window
 * may be longer. So both limits are off here. Proxies are those of `environment` (HTTP_PROXY, HTTPS_PROXY, NO_PROXY).
 *
 * @param toTraceHeaders what the request that is under way carries of its trace
 */
export async function openTransport(
  environment: NodeJS.ProcessEnv,
  toTraceHeaders: () => Record<string, string> = () => ({}),
): Promise<Transport> {
  const { EnvHttpProxyAgent, fetch } = await import("undici");
  const dispatcher = new EnvHttpProxyAgent({
    bodyTimeout: 0,
    headersTimeout: 0,
    allowH2: false,
    httpProxy: environment.http_proxy ?? environment.HTTP_PROXY ?? "",
    httpsProxy: environment.https_proxy ?? environment.HTTPS_PROXY ?? "",
    noProxy: environment.no_proxy ?? environment.NO_PROXY ?? "",
  });
  // One platform, two declarations of the same interface: the types of the package's fetch are not the global ones.
  const send = fetch as unknown as SendFunction;
  return (evidence) => async (input, init) => {
    evidence.requests++;
    try {
      const { url, request } = await toRequest(input, init);
      const traced = withHeaders(request, toTraceHeaders());
      return record(await send(url, { ...traced, dispatcher }), evidence);
    } catch (error) {
      evidence.transportError = toTransportError(error);
      throw error;
    }
  };
}

type SendFunction = (
  url: string,
  init: Omit<RequestInit, "dispatcher"> & { dispatcher: Dispatcher },
) => Promise<Response>;

/** Some adapters hand over a `Request` of the platform, which the package's `fetch` does not know. */
async function toRequest(
  input: string | URL | Request,
  init: RequestInit | undefined,
): Promise<{ url: string; request: RequestInit }> {
  if (!(input instanceof Request)) return { url: String(input), request: init ?? {} };
  const body = input.body === null ? {} : { body: await input.arrayBuffer() };
  const { method, signal } = input;
  return { url: input.url, request: { method, signal, headers: [...input.headers], ...body, ...init } };
}

function withHeaders(request: RequestInit, added: Record<string, string>): RequestInit {
  if (Object.keys(added).length === 0) return request;
  // As pairs: the package's `fetch` does not know the platform's `Headers`.
  return { ...request, headers: [...new Headers(request.headers), ...Object.entries(added)] };
}

function record(response: Response, evidence: ResponseEvidence): Response {
  const { status, statusText } = response;
  evidence.status = status;
  evidence.headers = Object.fromEntries(response.headers);
  evidence.body = "";
  delete evidence.transportError;
  const headers = new Headers([...response.headers]);
  const body = response.body === null ? null : listenTo(response.body, evidence);
  return new Response(body, { status, statusText, headers });
}

/** Pass a body through unchanged, keeping an error's beginning or a stream's end. */
function listenTo(
  body: ReadableStream<Uint8Array>,
  evidence: ResponseEvidence,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const isError = (evidence.status ?? 0) >= 400;
  const keep = (text: string): void => {
    const kept = evidence.body + text;
    if (isError) evidence.body = kept.slice(0, MAX_EVIDENCE_CHARACTERS);
    else
      evidence.body = kept.length > 2 * MAX_EVIDENCE_CHARACTERS ? kept.slice(-MAX_EVIDENCE_CHARACTERS) : kept;
  };
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) return controller.close();
          keep(decoder.decode(value, { stream: true }));
          controller.enqueue(new Uint8Array(value));
        } catch (error) {
          evidence.transportError = toTransportError(error);
          controller.error(error);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
