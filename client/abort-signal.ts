import type { EndSignal } from "../core/session-port.ts";

/** Follow a signal of any make; an abort keeps its reason where it has one. `release` lets go of it. */
export function toAbortSignal(signal: EndSignal | undefined): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController();
  const onAbort = () =>
    controller.abort(signal !== undefined && "reason" in signal ? signal.reason : undefined);
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort);
  return { signal: controller.signal, release: () => signal?.removeEventListener("abort", onAbort) };
}
