/**
 * What one request to a provider showed on the wire. Adapters keep little of it (a sentence, at best with a status in it), and a
 * wait that is asked for, or an overload in mid-stream, can't be told from a sentence.
 */
export interface ResponseEvidence {
  /** HTTP requests made; 0 where none was, such as without a key. */
  requests: number;
  /** Status of the last response; absent while there is none. */
  status?: number;
  /** Headers of the last response, names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** The beginning of an error's body, or the end of a stream; bounded. */
  body: string;
  /** Why the connection ended without being asked to. */
  transportError?: { code: string; text: string };
}

/** Bound of {@link ResponseEvidence.body}, in UTF-16 code units. */
export const MAX_EVIDENCE_CHARACTERS = 16_384;

export function noEvidence(): ResponseEvidence {
  return { requests: 0, headers: {}, body: "" };
}

/** Find the innermost cause of a connection's failure: the outer errors only say that there was one. */
export function toTransportError(error: unknown): { code: string; text: string } {
  let innermost: unknown = error;
  for (let depth = 0; depth < 8; depth++) {
    const next = toCause(innermost);
    if (next === undefined) break;
    innermost = next;
  }
  if (!isErrorLike(innermost)) return { code: "", text: String(innermost) };
  const code = typeof innermost.code === "string" ? innermost.code : "";
  return { code, text: innermost.message || innermost.name || "no reason given" };
}

interface ErrorLike {
  message: string;
  name?: string;
  code?: unknown;
  cause?: unknown;
  errors?: unknown;
}

function toCause(error: unknown): ErrorLike | undefined {
  if (!isErrorLike(error)) return undefined;
  const causes = [Array.isArray(error.errors) ? error.errors[0] : undefined, error.cause];
  return causes.find(isErrorLike);
}

/** By shape: an error of another realm is no instance of this one's `Error`. */
function isErrorLike(value: unknown): value is ErrorLike {
  return (
    typeof value === "object" && value !== null && "message" in value && typeof value.message === "string"
  );
}
