import { describeActivity, type LiveState } from "../../core/activity-text.ts";
import type { AgentRunInput } from "../../core/agent-run.ts";
import { type Delegation, toElapsedSeconds } from "../../core/delegation.ts";
import { describeDenials, describeEnding } from "../../core/ending-text.ts";
import { toCountText } from "../../core/text.ts";
import { freshen, LiveFiles } from "../live-files.ts";
import type { SessionHandle } from "../session-handle.ts";
import type { DelegateStory } from "../story/delegate-story.ts";
import type { SessionStory } from "../story/session-story.ts";
import { type TimelineEvent, toTimeline } from "../story/timeline.ts";
import { type ChainReading, readChain } from "./chain-reading.ts";
import { toCallsJson, toChainLines, toToolSummary, toTranscriptRemarks } from "./chain-text.ts";
import { CliError } from "./cli-error.ts";
import { toDurationText } from "./durations.ts";
import type { Host } from "./host.ts";
import { withTimes } from "./json-times.ts";
import type { Showing } from "./show.ts";
import { toDelegationJson } from "./show-session.ts";
import { toTokens } from "./summary.ts";
import { toTimelineText } from "./timeline-text.ts";
import { isSessionOver } from "./wait-over.ts";

/** All that is known of one delegation. */
interface Shown {
  record: Delegation;
  run: AgentRunInput | undefined;
  events: TimelineEvent[];
  reading: ChainReading;
  live: LiveState | undefined;
}

/** Show one delegation: what it was asked, what it did and how long that took, how it ended, and what it reported. */
export async function showDelegate(
  { sessionId, connected, flags, host }: Showing,
  id: string,
): Promise<void> {
  const session = connected.sessions.get(sessionId);
  const shown = await readShown(session, id, host);
  const { record, run, events, reading, live } = shown;
  const nowMs = Date.now();
  const chain = reading.detail;
  host.output.event(
    withTimes({
      ...toDelegationJson(record, live, nowMs),
      session: sessionId,
      ...(run === undefined
        ? {}
        : { task: run.prompt, workspace: run.workspace, permission: run.permission }),
      transcript: chain === undefined ? "elsewhere" : "here",
      ...(chain === undefined ? {} : toCallsJson(chain)),
      timeline: events,
    }),
  );
  const isRunning = record.status === "running";
  const lines = toChainLines(id, chain, events, isRunning);
  const details = live !== undefined && "details" in live ? live.details : undefined;
  host.output.print(
    [
      ...toHead(record, live, nowMs),
      ...(run === undefined ? [] : toTaskLines(run)),
      "",
      ...toTimelineText(lines, record.startedAtMs, flags.full),
      ...(chain === undefined || chain.calls.length === 0
        ? []
        : ["", `Tools: ${toToolSummary(chain.calls)}`]),
      ...toTranscriptRemarks(reading, details?.worker),
      "",
      isRunning ? describeActivity(live, nowMs) : describeEnding(record),
      "",
      (isRunning ? details?.partialReport || chain?.lastText : record.report || chain?.lastText) ||
        "(no text)",
      describeDenials(record),
    ].join("\n"),
  );
}

async function readShown(session: SessionHandle, id: string, host: Host): Promise<Shown> {
  // What the delegate's own workflow tells is enough, should its session be gone.
  const story = await session.story().catch((error) => {
    if (isSessionOver(error)) return undefined;
    throw error;
  });
  const own = await session.delegateStory(id);
  const record = story?.view.delegations.find((each) => each.id === id) ?? own?.record;
  if (record === undefined) throw await toUnknown(session, story, id);
  const lookedAtMs = Date.now();
  const state = record.status === "running" ? (await session.live([id])).get(id) : undefined;
  const file = new LiveFiles(host.stateFolder, session.sessionId).read(id);
  return {
    record,
    run: own?.run ?? story?.tasks.get(id),
    events: toEvents(story, own, record),
    reading: await readChain(session, id, (runId) => runId === id, host),
    live: state === undefined ? undefined : freshen(state, file, lookedAtMs),
  };
}

/** What its session tells of it; of a session that is gone, what its own workflow does. */
function toEvents(
  story: SessionStory | undefined,
  own: DelegateStory | undefined,
  record: Delegation,
): TimelineEvent[] {
  const attempts = (own?.attempts ?? []).map((attempt) => ({
    kind: "attempt" as const,
    id: record.id,
    ...attempt,
  }));
  const events = toTimeline(
    story ?? {
      view: { turns: [], delegations: [record], questions: [] },
      startedAtMs: record.startedAtMs,
      end: undefined,
      remarks: [],
    },
  ).filter((event) => "id" in event && event.id === record.id);
  return [...events, ...attempts].toSorted((one, other) => one.atMs - other.atMs);
}

async function toUnknown(
  session: SessionHandle,
  story: SessionStory | undefined,
  id: string,
): Promise<Error> {
  // Says that there is no such session.
  if (story === undefined)
    return await session.story().then(
      () => new Error("it is back"),
      (error) => error,
    );
  const known = story.view.delegations.map((each) => each.id);
  const list = known.length === 0 ? "the session has none" : `it has ${known.join(", ")}`;
  return new CliError(
    "Delegation.Unknown",
    `${session.sessionId} has no delegation ${JSON.stringify(id.slice(0, 100))}, or keeps it no longer: ${list}`,
  );
}

function toHead(record: Delegation, live: LiveState | undefined, nowMs: number): string[] {
  const elapsed = toDurationText(toElapsedSeconds(record, nowMs));
  const purpose = record.description === "" ? "" : ` · ${record.description}`;
  const details = live !== undefined && "details" in live ? live.details : undefined;
  const counts = record.status === "running" ? (details ?? record) : record;
  const attempts = Math.max(record.attempts, details?.attempt ?? 0);
  const cost = counts.usage.cost === 0 ? "" : `, $${counts.usage.cost.toFixed(4)}`;
  return [
    `${record.id} · ${record.agent}${purpose}`,
    `${record.status} · ${elapsed} · ${toCountText(counts.turns, "turn")}, ${toCountText(counts.toolCalls, "tool call")}, ${toCountText(toTokens(counts.usage), "token")}${cost} · ${toCountText(attempts, "attempt")} · model ${record.model}`,
  ];
}

function toTaskLines(run: AgentRunInput): string[] {
  const { mode, scope, contract } = run.permission;
  const permission = contract ?? (scope === "inherit" ? mode : `${scope} (session: ${mode})`);
  const { idleSeconds, maxDurationSeconds, maxTurns } = run.limits;
  const turns = maxTurns === undefined ? "" : `, ${toCountText(maxTurns, "turn")}`;
  return [
    `workspace ${run.workspace} · tools ${run.tools.join(", ") || "none"} · permissions at its start: ${permission}`,
    `limits: silent for ${toDurationText(idleSeconds)}, in all ${toDurationText(maxDurationSeconds)}${turns}`,
    ...(run.resumeFrom === undefined ? [] : [`goes on from ${run.resumeFrom}`]),
    "",
    "It was asked:",
    run.prompt,
  ];
}
