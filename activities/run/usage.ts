import type { Usage as ProviderUsage } from "@earendil-works/pi-ai";
import type { Usage } from "../../core/status.ts";

/** Bring a provider's usage into ours. Scripted and local models may leave parts of it out. */
export function toUsage(usage: ProviderUsage | undefined): Usage {
  return {
    input: usage?.input ?? 0,
    output: usage?.output ?? 0,
    cacheRead: usage?.cacheRead ?? 0,
    cacheWrite: usage?.cacheWrite ?? 0,
    cost: usage?.cost?.total ?? 0,
  };
}
