import type { LiveState } from "../../core/activity-text.ts";
import { describeActivity } from "../../core/activity-text.ts";
import { toModelLabel } from "../../core/definition.ts";
import { type Delegation, toElapsedSeconds } from "../../core/delegation.ts";
import type { SessionView } from "../../core/messages.ts";
import { freshen, LiveFiles } from "../live-files.ts";
import { mapBounded } from "../map-bounded.ts";
import { LOOKS_AT_ONCE } from "../session-calls.ts";
import type { SessionSummary } from "../session-client.ts";
import type { SessionHandle } from "../session-handle.ts";
import { type SessionStory, toListedView } from "../story/session-story.ts";
import { type TimelineEvent, toTimeline } from "../story/timeline.ts";
import { readAttempts, readMainAttempts } from "./chain-reading.ts";
import type { Host } from "./host.ts";
import { withTimes } from "./json-times.ts";
import type { JsonEvent } from "./output.ts";
import type { ToCommand } from "./own-command.ts";
import { describeDelegate } from "./progress-lines.ts";
import { describeQuestion, toAnswerCommands, toQuestionEvent } from "./questions.ts";
import type { Showing } from "./show.ts";
import { toDelegationTable } from "./summary.ts";
import { describeSessionEnd, toTimelineLines, toTimelineText } from "./timeline-text.ts";

/** All that is shown of a session. */
interface Shown {
  summary: SessionSummary;
  story: SessionStory;
  events: TimelineEvent[];
  live: ReadonlyMap<string, LiveState>;
  web: string | undefined;
  toCommand: ToCommand;
}

/** Show what a session was asked, what happened in it, in the order of time, what it is doing, and how it ended. */
export async function showSession({ sessionId, connected, flags, host }: Showing): Promise<void> {
  const { output } = host;
  const summary = await connected.sessions.describe(sessionId);
  const session = connected.sessions.get(sessionId);
  const story = await session.story();
  const shown: Shown = {
    summary,
    story,
    events: await toFullTimeline(session, story, host),
    live: await lookAtRunning(session, story.view, host),
    web: connected.toWebAddress(sessionId),
    toCommand: output.toCommand,
  };
  output.event(withTimes(toSessionJson(shown)));
  output.print(toSessionLines(shown, flags.full).join("\n"));
}

function toSessionJson({ summary, story, events, live, web, toCommand }: Shown): JsonEvent {
  const { view } = story;
  const listed = toListedView(story);
  const lastTurn = view.turns.at(-1);
  return {
    type: "session",
    session: summary.sessionId,
    status: summary.status,
    ...(web === undefined ? {} : { web }),
    taskQueue: summary.taskQueue,
    permission: view.permissionMode,
    input: view.input,
    turns: listed.turns.map((each) => (each.number === lastTurn?.number ? lastTurn : each)),
    delegations: listed.delegations.map((delegation) =>
      toDelegationJson(delegation, live.get(delegation.id), view.nowMs),
    ),
    questions: view.questions.map((question) => toQuestionEvent(summary.sessionId, question, toCommand)),
    startedAtMs: story.startedAtMs,
    ...(story.end === undefined ? {} : { end: toEndJson(story.end) }),
    ...(live.has("main") ? { activity: describeActivity(live.get("main"), view.nowMs) } : {}),
    timeline: events,
  };
}

function toSessionLines({ summary, story, events, live, web, toCommand }: Shown, isFull: boolean): string[] {
  const { view } = story;
  const answer = view.turns.at(-1)?.answer ?? "";
  const status = story.end === undefined ? summary.status : describeSessionEnd(story.end);
  return [
    `${summary.sessionId} · ${status} · ${view.input.workspace} · ${toModelLabel(view.input.model)} · permissions ${view.permissionMode}`,
    ...(web === undefined ? [] : [`Temporal Web: ${web}`]),
    `Began ${new Date(story.startedAtMs).toISOString()}; times below are UTC.`,
    ...toCarriedLines(story),
    "",
    ...toTimelineText(toTimelineLines(events), story.startedAtMs, isFull),
    ...(answer === "" ? [] : ["", answer]),
    "",
    ...toDelegationLines(view),
    ...toNowLines(view, live, toCommand(["worker", "--task-queue", summary.taskQueue])),
    ...toQuestionLines(view, toCommand),
  ];
}

function toEndJson({ how, atMs, reason, by }: NonNullable<SessionStory["end"]>) {
  return {
    how,
    atMs,
    ...(reason === "" ? {} : { reason }),
    ...(by === "" ? {} : { by }),
  };
}

/** With the attempts of the delegates, which their session does not record. */
async function toFullTimeline(
  session: SessionHandle,
  story: SessionStory,
  host: Host,
): Promise<TimelineEvent[]> {
  const retried = story.view.delegations.filter(
    ({ status, attempts }) => status === "running" || attempts > 1,
  );
  const attempts = await mapBounded(retried, LOOKS_AT_ONCE, ({ id }) => readAttempts(session, id, host));
  // The server tells of a turn's attempts only once it has ended.
  const main = await readMainAttempts(session, host);
  const events = toTimeline(story).filter(({ kind }) => main.length === 0 || kind !== "attempt");
  return [...events, ...main, ...attempts.flat()].toSorted((one, other) => one.atMs - other.atMs);
}

/** What the running delegates and the main agent are doing, by the server's record and this host's files, whichever knows more. */
export async function lookAtRunning(
  session: SessionHandle,
  view: SessionView,
  host: Host,
): Promise<Map<string, LiveState>> {
  const lookedAtMs = Date.now();
  const files = new LiveFiles(host.stateFolder, session.sessionId);
  const running = view.delegations.filter(({ status }) => status === "running").map(({ id }) => id);
  const states = new Map<string, LiveState>(await session.live(running));
  if (view.turns.at(-1)?.status === "running") states.set("main", await session.liveTurn());
  return new Map(
    [...states].map(([id, state]) => [id, freshen(state, files.read(id), lookedAtMs) ?? state] as const),
  );
}

function toCarriedLines({ carriedAtMs }: SessionStory): string[] {
  if (carriedAtMs === undefined) return [];
  return [
    `It continued as new at ${new Date(carriedAtMs).toISOString()}: of what was before, turns and delegations are told.`,
  ];
}

function toDelegationLines(view: SessionView): string[] {
  if (view.delegations.length === 0) return ["No delegations."];
  return [toDelegationTable(view.delegations, view.nowMs)];
}

/** States in which a run waits for a worker. */
const waitingKinds: ReadonlySet<LiveState["kind"]> = new Set(["worker-lost", "handed-back", "queued"]);

function toNowLines(view: SessionView, live: ReadonlyMap<string, LiveState>, command: string): string[] {
  if (live.size === 0) return [];
  const main = live.get("main");
  const isLost = [...live.values()].some(({ kind }) => waitingKinds.has(kind));
  return [
    "",
    "Now:",
    ...(main === undefined ? [] : [`main: ${describeActivity(main, view.nowMs)}`]),
    ...view.delegations.flatMap((delegation) =>
      delegation.status === "running"
        ? [`${delegation.id}: ${describeDelegate(delegation, live.get(delegation.id), view.nowMs)}`]
        : [],
    ),
    ...(isLost ? [`If its worker is gone: ${command} carries it on`] : []),
  ];
}

function toQuestionLines({ sessionId, questions }: SessionView, toCommand: ToCommand): string[] {
  const open = questions.filter(({ state }) => state === "open");
  if (open.length === 0) return [];
  const lines = open.map(
    (question) =>
      `${describeQuestion(question)} · ${toAnswerCommands(sessionId, question, toCommand).approve}`,
  );
  return ["", "Questions that wait for an answer:", ...lines];
}

/** A delegation as a program reads it, with what it is doing if it runs. */
export function toDelegationJson(delegation: Delegation, live: LiveState | undefined, nowMs: number) {
  const elapsedSeconds = toElapsedSeconds(delegation, nowMs);
  const activity = delegation.status === "running" ? { activity: describeActivity(live, nowMs), live } : {};
  return { type: "delegation", ...delegation, elapsedSeconds, ...activity };
}
