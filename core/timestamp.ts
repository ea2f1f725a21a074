/** A time as the server sends it: whole seconds since the epoch, which may come as a text or a long number, and the rest. */
export interface Timestamp {
  seconds?: { toString(): string } | number | string | null;
  nanos?: number | null;
}

/** Turn a time of the server into milliseconds since the epoch; 0 where it tells none. */
export function toMs(time: Timestamp | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1000 + Math.floor((time?.nanos ?? 0) / 1e6);
}

/** Leave the time out of each kind of event; distributes over the kinds, as Omit alone would not. */
export type Untimed<Each> = Each extends { atMs: number } ? Omit<Each, "atMs"> : never;
