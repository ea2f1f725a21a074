import type { LiveState } from "../../core/activity-text.ts";
import { describeActivity } from "../../core/activity-text.ts";
import { toModelLabel } from "../../core/definition.ts";
import { type Delegation, toElapsedSeconds } from "../../core/delegation.ts";
import { describeDenials, describeEnding } from "../../core/ending-text.ts";
import type { SessionView } from "../../core/messages.ts";
import type { Turn } from "../../core/session.ts";
import { toOneLine } from "../../core/text.ts";
import { CliError } from "./cli-error.ts";
import type { ServerFlags } from "./connect.ts";
import { toCountText, toDurationText } from "./durations.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import type { Host } from "./host.ts";
import { describeDelegate } from "./progress-lines.ts";
import { describeQuestion, toAnswerCommands, toQuestionEvent, toQuestionText } from "./questions.ts";
import { toDelegationTable, toTokens } from "./summary.ts";
import { type OpenedSession, withSession } from "./with-session.ts";

/** Show a session, one of its delegations with its report, or one of its questions. */
export async function show(
  sessionId: string,
  delegationId: string | undefined,
  flags: ServerFlags,
  host: Host,
): Promise<ExitCode> {
  await withSession(sessionId, "look", flags, host, async (opened) => {
    if (delegationId === undefined) await showSession(opened, host);
    else if (/^q-\d+$/.test(delegationId)) await showQuestion(opened, delegationId, host);
    else await showDelegation(opened, delegationId, host);
  });
  return exitCodes.completed;
}

async function showQuestion({ session }: OpenedSession, questionId: string, host: Host): Promise<void> {
  const { questions } = await session.view();
  const question = questions.find(({ id }) => id === questionId);
  if (question === undefined) {
    const known = questions.map(({ id }) => id).join(", ") || "none";
    throw new CliError(
      "Question.Unknown",
      `${session.sessionId} has no question ${questionId}, or keeps it no longer; it has: ${known}`,
    );
  }
  host.output.event(toQuestionEvent(session.sessionId, question));
  host.output.print(toQuestionText(session.sessionId, question));
}

async function showSession({ session, summary, connected }: OpenedSession, host: Host): Promise<void> {
  const view = await session.view();
  const last = view.turns.at(-1);
  const turn = last === undefined ? undefined : await session.turn(last.number);
  const running = view.delegations.filter(({ status }) => status === "running").map(({ id }) => id);
  const live = await session.live(running);
  const web = connected.toWebAddress(session.sessionId);
  host.output.event({
    type: "session",
    session: session.sessionId,
    status: summary.status,
    ...(web === undefined ? {} : { web }),
    taskQueue: summary.taskQueue,
    permission: view.permissionMode,
    input: view.input,
    turns: view.turns.map((each) => (each.number === turn?.number ? turn : each)),
    delegations: view.delegations.map((delegation) =>
      toJson(delegation, live.get(delegation.id), view.nowMs),
    ),
    questions: view.questions.map((question) => toQuestionEvent(session.sessionId, question)),
  });
  host.output.print(
    [
      `${session.sessionId} · ${summary.status} · ${view.input.workspace} · ${toModelLabel(view.input.model)} · permissions ${view.permissionMode}`,
      ...(web === undefined ? [] : [`Temporal Web: ${web}`]),
      "",
      ...view.turns.map(toTurnLine),
      ...(turn === undefined || turn.answer === "" ? [] : ["", turn.answer]),
      "",
      ...toDelegationLines(view, live),
      ...toQuestionLines(view),
    ].join("\n"),
  );
}

function toTurnLine(turn: Turn): string {
  const why = turn.error === undefined ? "" : ` (${turn.error.code}: ${turn.error.message})`;
  return `turn ${turn.number} · ${turn.status}${why} · ${toOneLine(turn.prompt, 200)}`;
}

function toDelegationLines(view: SessionView, live: ReadonlyMap<string, LiveState>): string[] {
  if (view.delegations.length === 0) return ["No delegations."];
  const running = view.delegations.filter(({ status }) => status === "running");
  return [
    toDelegationTable(view.delegations, view.nowMs),
    ...running.map(
      (delegation) =>
        `${delegation.id}: ${describeDelegate(delegation, live.get(delegation.id), view.nowMs)}`,
    ),
  ];
}

function toQuestionLines({ sessionId, questions }: SessionView): string[] {
  const open = questions.filter(({ state }) => state === "open");
  if (open.length === 0) return [];
  const lines = open.map(
    (question) => `${describeQuestion(question)} · ${toAnswerCommands(sessionId, question).approve}`,
  );
  return ["", "Questions that wait for an answer:", ...lines];
}

async function showDelegation({ session }: OpenedSession, delegationId: string, host: Host): Promise<void> {
  const delegation = await session.report(delegationId);
  if (delegation === undefined) {
    const known = (await session.view()).delegations.map(({ id }) => id);
    const list = known.length === 0 ? "the session has none" : `it has ${known.join(", ")}`;
    throw new CliError(
      "Delegation.Unknown",
      `${session.sessionId} has no delegation ${JSON.stringify(delegationId.slice(0, 100))}, or keeps it no longer: ${list}`,
    );
  }
  const { nowMs } = await session.view();
  const live = (await session.live([delegationId])).get(delegationId);
  host.output.event(toJson(delegation, live, nowMs));
  host.output.print(toDelegationText(delegation, live, nowMs));
}

function toDelegationText(delegation: Delegation, live: LiveState | undefined, nowMs: number): string {
  const elapsed = toDurationText(toElapsedSeconds(delegation, nowMs));
  const purpose = delegation.description === "" ? "" : ` · ${delegation.description}`;
  const isRunning = delegation.status === "running";
  const text =
    isRunning && live !== undefined && "details" in live ? live.details?.partialReport : delegation.report;
  return [
    `${delegation.id} · ${delegation.agent}${purpose}`,
    `${delegation.status} · ${elapsed} · ${toCountText(delegation.turns, "turn")}, ${toCountText(delegation.toolCalls, "tool call")}, ${toTokens(delegation.usage)} tokens · model ${delegation.model}`,
    isRunning ? describeActivity(live, nowMs) : describeEnding(delegation),
    "",
    text || "(no text)",
    describeDenials(delegation),
  ].join("\n");
}

function toJson(delegation: Delegation, live: LiveState | undefined, nowMs: number) {
  const elapsedSeconds = toElapsedSeconds(delegation, nowMs);
  const activity = delegation.status === "running" ? { activity: describeActivity(live, nowMs), live } : {};
  return { type: "delegation", ...delegation, elapsedSeconds, ...activity };
}
