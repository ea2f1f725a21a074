import { setTimeout as sleep } from "node:timers/promises";

/** Wait until a condition holds; rejects after `timeoutMs`. */
export async function waitUntil(
  holds: () => boolean | Promise<boolean>,
  timeoutMs: number = 20_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`did not come about within ${timeoutMs} ms: ${holds}`);
    await sleep(50);
  }
}
