import { describeActivity, type LiveState } from "../../core/activity-text.ts";
import type { Turn } from "../../core/session.ts";
import { toCountText } from "../../core/text.ts";
import type { ChainDetail } from "../story/chain-detail.ts";
import type { SessionStory } from "../story/session-story.ts";
import { type TimelineEvent, toTimeline } from "../story/timeline.ts";
import { readChain } from "./chain-reading.ts";
import { toCallsJson, toChainLines, toToolSummary, toTranscriptRemarks } from "./chain-text.ts";
import { CliError } from "./cli-error.ts";
import { toDurationText } from "./durations.ts";
import { withTimes } from "./json-times.ts";
import type { Showing } from "./show.ts";
import { lookAtRunning } from "./show-session.ts";
import { toTokens } from "./summary.ts";
import { toTimelineText } from "./timeline-text.ts";

/** Show what the main agent did: in all turns that are kept, or in one of them. */
export async function showMain({ sessionId, connected, flags, host }: Showing, what: string): Promise<void> {
  await connected.sessions.describe(sessionId);
  const session = connected.sessions.get(sessionId);
  const story = await session.story();
  const turns = chooseTurns(story, what);
  const isMeant = (runId: string) => turns.some(({ number }) => isRunOf(runId, number));
  const reading = await readChain(session, "main", isMeant, host);
  const chain = reading.detail;
  const live = (await lookAtRunning(session, story.view, host)).get("main");
  const events = toEvents(story, turns);
  const isRunning = turns.some(({ status }) => status === "running");
  host.output.event(
    withTimes({
      type: "main",
      session: sessionId,
      turns,
      ...(isRunning ? { activity: describeActivity(live, Date.now()), live } : {}),
      transcript: chain === undefined ? "elsewhere" : "here",
      ...(chain === undefined ? {} : toCallsJson(chain)),
      timeline: events,
    }),
  );
  const lines = toChainLines("main", chain, events, isRunning);
  host.output.print(
    [
      ...turns.flatMap((turn) => toTurnLines(turn, live)),
      "",
      ...toTimelineText(lines, turns[0]?.startedAtMs ?? story.startedAtMs, flags.full),
      ...toToolLines(chain),
      ...toTranscriptRemarks(reading, undefined),
      "",
      turns.at(-1)?.answer || chain?.lastText || "(no answer)",
    ].join("\n"),
  );
}

/** A turn's run, and the further steps of it that hand over what delegates left. */
export function isRunOf(runId: string, turn: number): boolean {
  return runId === `turn-${turn}` || runId.startsWith(`turn-${turn}.`);
}

function chooseTurns({ view }: SessionStory, what: string): Turn[] {
  if (what === "main") return view.turns;
  const found = view.turns.filter(({ number }) => what === `turn-${number}`);
  if (found.length > 0) return found;
  const known = view.turns.map(({ number }) => `turn-${number}`);
  throw new CliError(
    "Turn.Unknown",
    `${view.sessionId} has no ${what}, or keeps it no longer: ${known.length === 0 ? "it has had no message yet" : `it has ${known.join(", ")}`}`,
  );
}

function toEvents(story: SessionStory, turns: readonly Turn[]): TimelineEvent[] {
  const isWithin = ({ atMs }: TimelineEvent) =>
    turns.some(
      ({ startedAtMs, endedAtMs }) => atMs >= startedAtMs && atMs <= (endedAtMs ?? Number.POSITIVE_INFINITY),
    );
  // Of delegates only that they began and ended: the rest is told of each by itself.
  return toTimeline(story).filter(
    (event) =>
      isWithin(event) &&
      event.kind !== "attempt" &&
      (!("id" in event) ||
        event.id === "main" ||
        event.kind === "delegated" ||
        event.kind === "delegate-ended"),
  );
}

function toTurnLines(turn: Turn, live: LiveState | undefined): string[] {
  const seconds = Math.max(0, (turn.endedAtMs ?? Date.now()) - turn.startedAtMs) / 1000;
  const why = turn.error === undefined ? "" : ` (${turn.error.code}: ${turn.error.message})`;
  const now = turn.status === "running" ? ` · ${describeActivity(live, Date.now())}` : "";
  return [
    `turn ${turn.number} · ${turn.status}${why}${now} · ${toDurationText(seconds)} · ${toCountText(turn.turns, "model turn")}, ${toCountText(turn.toolCalls, "tool call")}, ${toCountText(toTokens(turn.usage), "token")}`,
    turn.prompt,
  ];
}

function toToolLines(chain: ChainDetail | undefined): string[] {
  return chain === undefined || chain.calls.length === 0 ? [] : ["", `Tools: ${toToolSummary(chain.calls)}`];
}
