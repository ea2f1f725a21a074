import type { AssistantMessage } from "@earendil-works/pi-ai";
import { isContextOverflow } from "@earendil-works/pi-ai/utils/overflow";
import { isRetryableAssistantError } from "@earendil-works/pi-ai/utils/retry";
import type { FailureCode } from "../../core/status.ts";
import { bound } from "../../core/text.ts";
import type { ResponseEvidence } from "./evidence.ts";
import { type ProviderError, readProviderError } from "./provider-error.ts";
import { toRetryAfterMs } from "./retry-after.ts";

/** Why a provider gave no usable answer, and whether asking again can help. */
export interface ProviderFailure {
  code: FailureCode;
  /** The provider's own text, bounded and without keys. */
  message: string;
  isRetryable: boolean;
  /** The wait that the provider asks for, from now. */
  retryAfterMs?: number;
}

/** Bound of a failure's message, in UTF-16 code units. */
export const MAX_FAILURE_CHARACTERS = 2_000;

/**
 * Classify a failed request: the one place that decides what a provider's failure is called and whether it is tried again.
 *
 * What the wire showed counts more than an adapter's sentence: the status, an error event in mid-stream, a broken connection. The
 * sentence decides where nothing was seen.
 */
export function classifyFailure(
  message: AssistantMessage,
  evidence: ResponseEvidence,
  nowMs: number,
): ProviderFailure {
  const facts = toFacts(message, evidence, nowMs);
  const verdict = rules.map((rule) => rule(facts)).find((found) => found !== undefined) ?? fallback(facts);
  const [code, isRetryable] = verdict;
  return {
    code,
    message: bound(
      toMessage(facts),
      MAX_FAILURE_CHARACTERS,
      (leftOut) => ` [${leftOut} characters left out]`,
    ),
    isRetryable,
    ...(isRetryable && facts.retryAfterMs !== undefined ? { retryAfterMs: facts.retryAfterMs } : {}),
  };
}

interface Facts extends ProviderError {
  evidence: ResponseEvidence;
  assistant: AssistantMessage;
  /** The adapter's sentence. */
  sentence: string;
  /** Everything that was said, lower case, for the few things that only words tell. */
  words: string;
  finish: string;
  retryAfterMs: number | undefined;
}

type Verdict = readonly [code: FailureCode, isRetryable: boolean];

function toFacts(assistant: AssistantMessage, evidence: ResponseEvidence, nowMs: number): Facts {
  const error = readProviderError(evidence);
  const sentence = assistant.errorMessage ?? "";
  const status = error.status ?? (evidence.requests === 0 ? toStatusInText(sentence) : undefined);
  return {
    ...error,
    kinds: error.kinds || toKindsInText(assistant.api, sentence),
    ...(status === undefined ? {} : { status }),
    evidence,
    assistant,
    sentence,
    words: `${error.text}\n${sentence}`.toLowerCase(),
    finish: (assistant.rawStopReason ?? "").toLowerCase(),
    retryAfterMs: toRetryAfterMs(evidence.headers, `${error.text}\n${sentence}\n${error.raw}`, nowMs),
  };
}

/** Adapters that bring their own transport leave the status at the beginning of their sentence. */
function toStatusInText(sentence: string): number | undefined {
  const found = /^(?:[\w -]+ \()?([45]\d\d)\b/.exec(sentence)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Bedrock's adapter leaves the exception's name there, or a paraphrase of it. */
function toKindsInText(api: string | undefined, sentence: string): string {
  const found = api === "bedrock-converse-stream" ? /^([A-Za-z ]{1,60}):/.exec(sentence)?.[1] : undefined;
  return found?.toLowerCase() ?? "";
}

/** In order of rank; the first that knows decides. */
const rules: readonly ((facts: Facts) => Verdict | undefined)[] = [
  ({ finish, kinds }) =>
    /content_?filter|refusal|sensitive|^safety|image_safety|prohibited_content|blocklist|recitation|spii/.test(
      finish,
    ) || /content_?filter|content_policy|responsibleaipolicy/.test(kinds)
      ? ["PROVIDER_REFUSED", false]
      : undefined,
  ({ evidence, sentence }) =>
    evidence.requests === 0 && /not configured|no api key|load credentials/i.test(sentence)
      ? ["PROVIDER_AUTH", false]
      : undefined,
  (facts) => (isOutOfCredit(facts) ? ["PROVIDER_AUTH", false] : undefined),
  (facts) => (isTooLong(facts) ? ["PROVIDER_CONTEXT_OVERFLOW", false] : undefined),
  ({ status, kinds, words }) => (status === undefined ? undefined : fromStatus(status, kinds, words)),
  ({ kinds }) => fromKinds(kinds),
  ({ evidence }) => fromTransport(evidence),
  ({ finish }) =>
    /^(?:error|network_error|malformed_|unexpected_tool_call|other)/.test(finish)
      ? ["PROVIDER_UNAVAILABLE", true]
      : undefined,
];

function fromStatus(status: number, kinds: string, words: string): Verdict {
  if (status === 401 || status === 403) return ["PROVIDER_AUTH", false];
  if (status === 404 || /model_not_found/.test(kinds)) return ["PROVIDER_NOT_FOUND", false];
  if (status === 429) return ["PROVIDER_RATE_LIMITED", true];
  if (status === 529 || status === 503 || status === 498) return ["PROVIDER_OVERLOADED", true];
  if (status >= 500)
    return /overloaded/.test(kinds + words) ? ["PROVIDER_OVERLOADED", true] : ["PROVIDER_UNAVAILABLE", true];
  if (status === 408 || status === 409 || status === 425) return ["PROVIDER_UNAVAILABLE", true];
  if (/api_key_invalid|api key not valid/.test(kinds + words)) return ["PROVIDER_AUTH", false];
  return ["PROVIDER_BAD_REQUEST", false];
}

/** An error event in mid-stream has no status: the provider's own names must do. */
function fromKinds(kinds: string): Verdict | undefined {
  if (/rate_?limit|throttl|too_many_requests|resource_exhausted/.test(kinds))
    return ["PROVIDER_RATE_LIMITED", true];
  if (/overloaded|capacity|server_busy|unavailable/.test(kinds)) return ["PROVIDER_OVERLOADED", true];
  if (
    /authentication|permission|unauthenticated|invalid_api_key|accessdenied|unrecognizedclient|expiredtoken/.test(
      kinds,
    )
  )
    return ["PROVIDER_AUTH", false];
  if (/not_?found/.test(kinds)) return ["PROVIDER_NOT_FOUND", false];
  if (/invalid|bad_request|unsupported|failed_precondition|validation/.test(kinds))
    return ["PROVIDER_BAD_REQUEST", false];
  return kinds === "" ? undefined : ["PROVIDER_UNAVAILABLE", true];
}

function fromTransport({ transportError }: ResponseEvidence): Verdict | undefined {
  if (transportError === undefined) return undefined;
  const isHopeless = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL|INVALID_URL|ERR_INVALID/;
  return ["PROVIDER_UNAVAILABLE", !isHopeless.test(transportError.code)];
}

/** The account has nothing left, which no waiting mends. A rate limit may speak of quota and billing too, but it names a wait. */
function isOutOfCredit({ status, kinds, words, retryAfterMs }: Facts): boolean {
  if (status === 402 || /insufficient_quota|billing|insufficient_balance|usagelimiterror/.test(kinds))
    return true;
  if (retryAfterMs !== undefined || /rate_?limit/.test(kinds) || /rate limit/.test(words)) return false;
  const isRefused = status === undefined || (status >= 400 && status < 500);
  return (
    isRefused &&
    /insufficient[_ ](?:quota|balance|credit|funds)|credit balance|out of (?:credits?|budget)|exceeded your current quota|quota exceeded|billing/.test(
      words,
    )
  );
}

function isTooLong({ assistant, status, kinds, text, sentence }: Facts): boolean {
  if (status === 413 || /context_length_exceeded|request_too_large/.test(kinds)) return true;
  if (status !== undefined && (status === 429 || status >= 500)) return false;
  return [text, sentence].some((errorMessage) =>
    isContextOverflow({ ...assistant, stopReason: "error", errorMessage }),
  );
}

/** Nothing on the wire explains it: the stream just ended, or no request was made. */
function fallback({ evidence, sentence, assistant, finish }: Facts): Verdict {
  if (finish === "" && evidence.status !== undefined) return ["PROVIDER_UNAVAILABLE", true];
  const isRetryable = isRetryableAssistantError({
    ...assistant,
    stopReason: "error",
    errorMessage: sentence,
  });
  return isRetryable ? ["PROVIDER_UNAVAILABLE", true] : ["PROVIDER_BAD_REQUEST", false];
}

function toMessage({ evidence, text, sentence, kinds }: Facts): string {
  const { status, transportError } = evidence;
  if (status !== undefined && status >= 400) {
    return text === "" ? `HTTP ${status} with an empty body` : `HTTP ${status}: ${text}`;
  }
  if (text !== "") return kinds === "" ? text : `${text} (${kinds})`;
  if (transportError !== undefined) {
    const { code, text: cause } = transportError;
    return `the connection failed: ${cause}${code === "" || cause.includes(code) ? "" : ` (${code})`}`;
  }
  return sentence || "the provider gave no reason";
}
