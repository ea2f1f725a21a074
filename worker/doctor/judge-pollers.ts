import type { temporal } from "@temporalio/proto";
import { toMs } from "../../core/timestamp.ts";
import { isOfDeadProcess } from "../worker-identity.ts";

export type Poller = temporal.api.taskqueue.v1.IPollerInfo;

/** A worker asks again at least once a minute; the server remembers it for some minutes after it has gone. */
export const RECENT_MS = 90_000;

/** Tell who of the pollers does not serve, by identity: processes of this host that have ended, and whoever has not asked for long on any queue. */
export function judgePollers(pollers: readonly Poller[], nowMs: number): Map<string, "gone" | "silent"> {
  const lastMs = new Map<string, number>();
  for (const { identity, lastAccessTime } of pollers) {
    const name = identity ?? "";
    lastMs.set(name, Math.max(lastMs.get(name) ?? 0, toMs(lastAccessTime)));
  }
  const standing = new Map<string, "gone" | "silent">();
  for (const [identity, ms] of lastMs) {
    if (isOfDeadProcess(identity)) standing.set(identity, "gone");
    else if (nowMs - ms >= RECENT_MS) standing.set(identity, "silent");
  }
  return standing;
}
