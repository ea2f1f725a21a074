import type { ActivityRef, AttemptStanding } from "./host.ts";

/** A stop takes effect within 5 s: asking this often leaves time to end processes. */
const ASK_EVERY_MS = 1_500;

/**
 * Ask the server again and again whether an attempt is still wanted.
 *
 * The SDK hears of a cancellation only in a heartbeat's answer unless the server pushes it, and while the model is silent nothing beats. A server that
 * can't be reached says nothing: the run goes on.
 *
 * @param onUnwanted called once
 * @returns ends the asking
 */
export function watchStanding(
  ask: (ref: ActivityRef) => Promise<AttemptStanding>,
  ref: ActivityRef,
  onUnwanted: (standing: Exclude<AttemptStanding, "wanted">) => void,
): () => void {
  let isOver = false;
  let timer: NodeJS.Timeout;
  const next = () => {
    timer = setTimeout(() => void look(), ASK_EVERY_MS);
  };
  const look = async () => {
    const standing = await ask(ref).catch(() => "wanted" as const);
    if (isOver) return;
    if (standing === "wanted") {
      next();
      return;
    }
    isOver = true;
    onUnwanted(standing);
  };
  next();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
