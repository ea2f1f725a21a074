/** Node fires a timer at once if its delay does not fit into 32 bits. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
export const MIN_TIMEOUT_SECONDS = 1;

/** How long a command may run, with a note where that is not what was asked for; or why it can't be told. */
export type CommandTimeout = { seconds: number; note: string | undefined } | { problem: string };

/** Bring a wished timeout into its bounds. */
export function toTimeout(wished: number | undefined, standard: number, ceiling: number): CommandTimeout {
  if (wished === undefined) return { seconds: Math.min(standard, ceiling), note: undefined };
  if (!(wished > 0)) {
    const bounds = `a number of seconds from ${MIN_TIMEOUT_SECONDS} to ${ceiling}`;
    return { problem: `timeoutSeconds is ${wished}: give ${bounds}, or leave it out for ${standard}.` };
  }
  const seconds = Math.min(Math.max(wished, Math.min(MIN_TIMEOUT_SECONDS, ceiling)), ceiling);
  const note = seconds === wished ? undefined : `timeoutSeconds ${wished} was taken as ${seconds}.`;
  return { seconds, note };
}

/** Call `callback` after any delay, those of more than 24.8 days included. Returns what calls it off. */
export function startTimer(
  delayMs: number,
  callback: () => void,
  longestMs: number = LONGEST_TIMER_MS,
): () => void {
  const due = performance.now() + delayMs;
  let timer: NodeJS.Timeout;
  const arm = () => {
    const left = due - performance.now();
    timer = left > longestMs ? setTimeout(arm, longestMs) : setTimeout(callback, Math.max(0, left));
  };
  arm();
  return () => clearTimeout(timer);
}
