import type { ResponseEvidence } from "./evidence.ts";

/** What a provider said about a failure, whatever envelope it came in. */
export interface ProviderError {
  /** HTTP status of the response, or the one named inside of an error event; absent where neither is known. */
  status?: number;
  /** The provider's own names for the error, lower case: type, code and status fields joined by blanks. */
  kinds: string;
  /** The provider's sentence, or "" where it gave none. */
  text: string;
  /** The error as it came, bounded: what a sentence leaves out, such as a retry hint, is in there. */
  raw: string;
}

/** Read an error from an error response's body, or from an error event at the end of a stream. */
export function readProviderError(evidence: ResponseEvidence): ProviderError {
  const httpStatus = evidence.status !== undefined && evidence.status >= 400 ? evidence.status : undefined;
  const raw = httpStatus === undefined ? findErrorEvent(evidence.body) : evidence.body.trim();
  const error = readEnvelope(parseJson(raw));
  if (httpStatus !== undefined)
    return { ...error, status: httpStatus, text: error.text || toPlainText(raw), raw };
  return { ...error, raw };
}

/** The last event of a stream that is an error: providers stop after it. */
function findErrorEvent(stream: string): string {
  // Some gateways answer 200 and then an error that is no stream at all.
  const whole = parseJson(stream);
  if (isRecord(whole) && toErrorPart(whole) !== undefined) return stream.trim();
  const lines = stream.split(/\r?\n/);
  for (let index = lines.length - 1; index >= 0; index--) {
    const line = lines[index] ?? "";
    const data = line.startsWith("data:") ? line.slice(5).trim() : line.trim();
    if (!data.startsWith("{")) continue;
    const value = parseJson(data);
    if (isRecord(value) && toErrorPart(value) !== undefined) return data;
  }
  return "";
}

function readEnvelope(value: unknown): Omit<ProviderError, "raw"> {
  // Google answers a list of one.
  const body = Array.isArray(value) ? value[0] : value;
  if (!isRecord(body)) return { kinds: "", text: "" };
  const part = toErrorPart(body);
  if (typeof part === "string") return { kinds: "", text: part };
  const error = part ?? body;
  const fields = [error.type, error.code, error.status];
  const kinds = fields
    .filter((field) => typeof field === "string")
    .join(" ")
    .trim()
    .toLowerCase();
  const status = [error.code, error.status, error.status_code]
    .map(toStatus)
    .find((code) => code !== undefined);
  const text = [error.message, error.detail, body.message, body.detail].find(
    (field) => typeof field === "string" && field.trim() !== "",
  );
  return {
    ...(status === undefined ? {} : { status }),
    kinds,
    text: typeof text === "string" ? text.trim() : "",
  };
}

/** `{error}`, `{type: "error", ...}`, and the `{response: {error}}` of a failed response. */
function toErrorPart(body: Record<string, unknown>): Record<string, unknown> | string | undefined {
  const response = isRecord(body.response) ? body.response.error : undefined;
  for (const part of [body.error, response]) {
    if (isRecord(part)) return part;
    if (typeof part === "string" && part !== "") return part;
  }
  return body.type === "error" ? body : undefined;
}

function toStatus(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isInteger(number) && number >= 400 && number < 600
    ? number
    : undefined;
}

/** A gateway's page says what it has to say in its title; its mark-up is of no use to anybody. */
function toPlainText(body: string): string {
  if (!/<(?:html|!doctype|head|body|title)\b/i.test(body)) return body;
  const title = /<title[^>]*>([^<]*)/i.exec(body)?.[1]?.trim();
  if (title) return title;
  return body
    .replace(/<(script|style)\b[\s\S]*?(?:<\/\1>|$)/gi, " ")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
