/** How it stands with one thing: fine, odd but workable, or in the way. */
export type Level = "ok" | "warning" | "problem";

/** What a check found, and what to do about it. */
export interface Finding {
  /** What was looked at, such as `search attributes`. */
  check: string;
  level: Level;
  text: string;
  advice?: string;
  /** Words of a command of ours that the advice ends with; whoever prints it knows how it has to be typed. */
  command?: readonly string[];
}

export function ok(check: string, text: string): Finding {
  return { check, level: "ok", text };
}

export function warning(check: string, text: string, advice: string, command?: readonly string[]): Finding {
  return { check, level: "warning", text, advice, ...(command === undefined ? {} : { command }) };
}

export function problem(check: string, text: string, advice: string, command?: readonly string[]): Finding {
  return { check, level: "problem", text, advice, ...(command === undefined ? {} : { command }) };
}

/** No check takes longer; what does not answer by then is found to be silent. */
const CHECK_MS = 8_000;

/** Carry out one check. It never throws and never takes longer than some seconds. */
export async function carryOut(check: string, look: () => Promise<Finding[]>): Promise<Finding[]> {
  const { promise: late, resolve } = Promise.withResolvers<Finding[]>();
  const silent = warning(check, `no answer within ${CHECK_MS / 1000} s`, "try again, or look at it by hand");
  const timer = setTimeout(() => resolve([silent]), CHECK_MS);
  try {
    return await Promise.race([look(), late]);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return [warning(check, `it can't be looked at: ${text}`, "look at it by hand")];
  } finally {
    clearTimeout(timer);
  }
}
