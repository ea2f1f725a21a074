import { MAX_PROVIDER_TRIES } from "../../core/limits.ts";
import type { ProviderFailure } from "./failure.ts";

/** Delay before the second request; each further one waits twice as long. */
const BASE_RETRY_DELAY_MS = 2_000;
/** Cap of the growing delay; a wait that the provider asks for is never shortened to it. */
export const MAX_RETRY_DELAY_MS = 60_000;
/** Delegates that were refused together don't come back together, even where the provider names the moment. */
const SPREAD_MS = 1_000;

/**
 * Decide how long to wait before a model turn is requested again; undefined where it must not be.
 *
 * `triesSoFar` counts the turn's requests, from 1. Half of the delay is fixed and half is chance. The wait that the provider
 * asked for is a lower bound, whatever its size: whether it fits into the idle window is the caller's question. `random` yields
 * [0, 1).
 */
export function toRetryDelayMs(
  failure: ProviderFailure,
  triesSoFar: number,
  random: () => number,
): number | undefined {
  if (!failure.isRetryable || triesSoFar >= MAX_PROVIDER_TRIES) return undefined;
  const cap = Math.min(MAX_RETRY_DELAY_MS, BASE_RETRY_DELAY_MS * 2 ** Math.max(0, triesSoFar - 1));
  const chance = random();
  const backoff = Math.round(cap / 2 + (cap / 2) * chance);
  if (failure.retryAfterMs === undefined) return backoff;
  return Math.max(backoff, failure.retryAfterMs + Math.round(SPREAD_MS * chance));
}
