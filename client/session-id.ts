import { randomBytes } from "node:crypto";

/** Nine base-36 digits hold milliseconds until the year 5188. */
const TIME_DIGITS = 9;

/** Make an id for a new session: short, unique, and in the order of time when sorted as text. */
export function createSessionId(nowMs: number = Date.now()): string {
  const time = nowMs.toString(36).padStart(TIME_DIGITS, "0");
  const random = (randomBytes(4).readUInt32BE() % 36 ** 4).toString(36).padStart(4, "0");
  return `session-${time}${random}`;
}
