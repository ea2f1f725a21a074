import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import protobuf from "protobufjs";

/** A span as a collector gets it. */
export interface ReceivedSpan {
  name: string;
  traceId: string;
  spanId: string;
  /** Empty for a root. */
  parentId: string;
  kind: number;
  attributes: Record<string, unknown>;
  /** 0 unset, 1 ok, 2 error. */
  status: number;
  seconds: number;
  service: unknown;
}

export interface OtlpReceiver {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  endpoint: string;
  spans: ReceivedSpan[];
  /** Requests to any path, as they came. */
  requests: { path: string; headers: IncomingMessage["headers"]; body: Buffer }[];
  close(): Promise<void>;
}

/** The part of OpenTelemetry's wire format that is looked at here. */
const schema = protobuf.parse(`
  syntax = "proto3";
  message Request { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
    fixed64 start = 7; fixed64 end = 8; repeated KeyValue attributes = 9; Status status = 15;
  }
  message Status { int32 code = 3; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { oneof value { string text = 1; bool flag = 2; int64 whole = 3; double number = 4; List list = 5; } }
  message List { repeated AnyValue values = 1; }
`).root;

/** Start a real receiver of OTLP over HTTP. `answer` may keep a request waiting or refuse it; by default everything is taken. */
export async function startOtlpReceiver(
  answer: (response: ServerResponse) => void = (response) => response.writeHead(200).end(),
): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const requests: OtlpReceiver["requests"] = [];
  const server = createServer((incoming, response) => {
    void buffer(incoming).then((body) => {
      const path = incoming.url ?? "";
      requests.push({ path, headers: incoming.headers, body });
      if (path === "/v1/traces") spans.push(...decode(body));
      answer(response);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

interface WireValue {
  text?: string;
  flag?: boolean;
  whole?: number;
  number?: number;
  list?: { values?: WireValue[] };
}
type WireAttributes = { key: string; value?: WireValue }[];
interface WireSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind?: number;
  start: number;
  end: number;
  attributes?: WireAttributes;
  status?: { code?: number };
}
interface WireRequest {
  resourceSpans?: { resource?: { attributes?: WireAttributes }; scopeSpans?: { spans?: WireSpan[] }[] }[];
}

function decode(body: Buffer): ReceivedSpan[] {
  const type = schema.lookupType("Request");
  const request = type.toObject(type.decode(body), { bytes: String, longs: Number }) as WireRequest;
  return (request.resourceSpans ?? []).flatMap(({ resource, scopeSpans = [] }) => {
    const service = toRecord(resource?.attributes)["service.name"];
    return scopeSpans.flatMap(({ spans = [] }) => spans.map((span) => toSpan(span, service)));
  });
}

function toSpan(span: WireSpan, service: unknown): ReceivedSpan {
  const toHex = (base64: string | undefined) => Buffer.from(base64 ?? "", "base64").toString("hex");
  return {
    name: span.name,
    traceId: toHex(span.traceId),
    spanId: toHex(span.spanId),
    parentId: toHex(span.parentSpanId),
    kind: span.kind ?? 0,
    attributes: toRecord(span.attributes),
    status: span.status?.code ?? 0,
    seconds: (span.end - span.start) / 1e9,
    service,
  };
}

function toRecord(attributes: WireAttributes = []): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, toValue(value)]));
}

function toValue(value: WireValue | undefined): unknown {
  if (value === undefined) return undefined;
  if (value.list !== undefined) return (value.list.values ?? []).map(toValue);
  return value.text ?? value.flag ?? value.whole ?? value.number;
}
