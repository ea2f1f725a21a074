import { setTimeout as sleep } from "node:timers/promises";
import { refusals } from "../core/messages.ts";
import { SessionRefusal } from "../core/session-port.ts";

const PLACE_LOOK_MS = 1_000;

/** Put a wait again while the session has no place for it: others wait for it too, and their waits end. */
export async function waitForPlace<Answer>(
  wait: () => Promise<Answer>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  for (;;) {
    try {
      return await wait();
    } catch (error) {
      if (!(error instanceof SessionRefusal && error.code === refusals.tooManyWaits)) throw error;
    }
    await sleep(PLACE_LOOK_MS, undefined, signal === undefined ? {} : { signal });
  }
}
