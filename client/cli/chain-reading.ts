import { openTranscript } from "../../worker/transcript.ts";
import type { SessionHandle } from "../session-handle.ts";
import { type AttemptDetail, type ChainDetail, foldTranscript } from "../story/chain-detail.ts";
import type { TimelineEvent } from "../story/timeline.ts";
import type { Host } from "./host.ts";

/** What this host's transcript tells of some runs, or why it can't be read. Neither, where this host has none. */
export interface ChainReading {
  detail?: ChainDetail;
  problem?: string;
}

/** Read what this host's transcript tells of a chain's runs. */
export async function readChain(
  session: SessionHandle,
  chain: string,
  isMeant: (runId: string) => boolean,
  host: Host,
): Promise<ChainReading> {
  try {
    const items = await openTranscript(host.stateFolder, session.sessionId, chain);
    return items === undefined ? {} : { detail: await foldTranscript(items, isMeant) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Attempts of a delegate after the first: by this host's transcript, else by its own workflow, which tells them once the run is over. */
export async function readAttempts(session: SessionHandle, id: string, host: Host): Promise<TimelineEvent[]> {
  const { detail } = await readChain(session, id, (runId) => runId === id, host);
  if (detail !== undefined) return detail.attempts.flatMap((each) => toLaterAttempt(id, each));
  const story = await session.delegateStory(id);
  return (story?.attempts ?? []).map((attempt) => ({ kind: "attempt", id, ...attempt }));
}

/** Attempts of turns after the first, by this host's transcript; none where it has none. */
export async function readMainAttempts(session: SessionHandle, host: Host): Promise<TimelineEvent[]> {
  const { detail } = await readChain(session, "main", () => true, host);
  return (detail?.attempts ?? []).flatMap((each) => toLaterAttempt("main", each));
}

/** Tell of an attempt that is not a run's first, and how the one before it ended; nothing of a first one. */
export function toLaterAttempt(id: string, detail: AttemptDetail): TimelineEvent[] {
  const { attempt, atMs } = detail;
  if (attempt <= 1 || atMs === undefined) return [];
  return [{ kind: "attempt", id, atMs, attempt, before: describeBefore(detail) }];
}

function describeBefore({ before }: AttemptDetail): string {
  if (before === undefined) return "its worker was lost before it could say anything";
  const last = new Date(before.lastEventAtMs).toISOString().slice(11, 19);
  return before.isHandedBack
    ? `worker ${before.worker} handed it back at its own end; last event at ${last}`
    : `worker ${before.worker} was lost; last event at ${last}`;
}
