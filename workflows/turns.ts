import { CancellationScope, condition, createEventGroup } from "@temporalio/workflow";
import type { AgentRunInput, AgentRunOutcome } from "../core/agent-run.ts";
import { STOP_EFFECT_SECONDS, TASK_STOP_ANSWER_SECONDS } from "../core/limits.ts";
import { toSummaryLine } from "../core/markdown.ts";
import { type Turn, toTurnStatus } from "../core/session.ts";
import { addUsage, noUsage } from "../core/status.ts";
import { boundReports, toTaskWaitText } from "../core/task-wait.ts";
import { cutAt } from "../core/text.ts";
import { toolNames } from "../core/tools.ts";
import type { TraceContext } from "../core/trace-context.ts";
import { carryOutRun } from "./agent-run.ts";
import { readCatalogue } from "./catalogue.ts";
import { type Delegations, requestStopOfAll } from "./delegations.ts";
import { countTurn } from "./measure.ts";
import { withdrawQuestions } from "./permission-handler.ts";
import {
  findTurn,
  listRunning,
  markHandedOver,
  type SessionContext,
  showSession,
} from "./session-context.ts";
import { recordStory } from "./session-story.ts";

/** Answers of earlier turns are kept to this length. */
const KEPT_ANSWER_CHARACTERS = 1000;
const KEPT_TURNS = 50;

/** Record a new turn; the session's main loop carries it out. */
export function openTurn(session: SessionContext, prompt: string, trace: TraceContext | undefined): number {
  session.state.lastTurn += 1;
  const turn: Turn = {
    number: session.state.lastTurn,
    prompt: cutAt(prompt, KEPT_ANSWER_CHARACTERS),
    status: "running",
    startedAtMs: Date.now(),
    answer: "",
    turns: 0,
    toolCalls: 0,
    usage: noUsage,
    attempts: 0,
  };
  const earlier = session.state.turns
    .slice(-(KEPT_TURNS - 1))
    .map((each) => ({ ...each, answer: cutAt(each.answer, KEPT_ANSWER_CHARACTERS) }));
  session.state.turns = [...earlier, turn];
  session.activeTurn = {
    number: turn.number,
    scope: undefined,
    isAborted: false,
    isEnding: false,
    trace,
  };
  showSession(session);
  return turn.number;
}

/** Ask the running turn to end; its delegates end with it. No-op between turns. */
export function abortTurn(session: SessionContext): void {
  const active = session.activeTurn;
  if (active === undefined) return;
  active.isAborted = true;
  active.scope?.cancel();
}

/**
 * Carry out the open turn to its end, leftovers included. Never throws for an agent's failure: the turn's status says it.
 */
export async function carryOutTurn(
  session: SessionContext,
  delegations: Delegations,
  prompt: string,
): Promise<void> {
  const active = session.activeTurn;
  if (active === undefined) return;
  const scope = new CancellationScope({ cancellable: true });
  active.scope = scope;
  if (active.isAborted) scope.cancel();
  const turn = findTurn(session, active.number);
  if (turn !== undefined) await freshenCatalogue(session, scope, turn);
  let step = 1;
  let outcome = await runMain(session, scope, active.number, step, prompt);
  recordProgress(session, active.number, outcome);
  while (
    outcome.status === "completed" &&
    session.input.leftovers === "deliver" &&
    hasLeftovers(session) &&
    !active.isAborted
  ) {
    step += 1;
    const before = outcome;
    outcome = await deliverLeftovers(session, scope, active.number, step);
    // A further step that ends without a word does not undo what was said before it.
    if (outcome.report === "") outcome = { ...outcome, report: before.report };
    recordProgress(session, active.number, outcome);
  }
  active.isEnding = true;
  withdrawQuestions(session, "main");
  await endDelegates(session, delegations);
  endTurn(session, active.number, outcome);
  session.activeTurn = undefined;
  showSession(session);
}

async function runMain(
  session: SessionContext,
  scope: CancellationScope,
  number: number,
  step: number,
  prompt: string,
): Promise<AgentRunOutcome> {
  return await scope.run(() =>
    carryOutRun(toMainRun(session, number, step, prompt), {
      taskQueue: session.taskQueue,
      summary: toSummaryLine(
        `main agent, turn ${number}${step === 1 ? "" : `, step ${step}`}: ${prompt}`,
        120,
      ),
      group: createEventGroup(`turn ${number}`, { id: `turn-${number}` }),
      isCancelRequested: () => session.activeTurn?.isAborted ?? false,
    }),
  );
}

/** Read the definitions for a turn, unless that was done after its message came. An aborted turn waits for nothing. */
async function freshenCatalogue(
  session: SessionContext,
  scope: CancellationScope,
  turn: Turn,
): Promise<void> {
  if ((session.catalogueReadAtMs ?? -1) >= turn.startedAtMs) return;
  await scope.run(() => readCatalogue(session));
}

function toMainRun(session: SessionContext, turn: number, step: number, prompt: string): AgentRunInput {
  const { input, state } = session;
  const trace = session.activeTurn?.trace;
  return {
    role: "main",
    sessionId: session.id,
    chain: "main",
    runId: step === 1 ? `turn-${turn}` : `turn-${turn}.${step}`,
    agent: "main",
    turn,
    prompt,
    hasTranscript: state.hasTranscript ?? state.turns.some((earlier) => earlier.turns > 0),
    workspace: input.workspace,
    model: input.model,
    ...(input.thinkingLevel === undefined ? {} : { thinkingLevel: input.thinkingLevel }),
    tools: [...toolNames],
    catalogue: state.catalogue.map(({ name, description, tools }) => ({ name, description, tools })),
    permission: {
      mode: state.permissionMode,
      scope: "inherit",
      ...(input.contract === undefined ? {} : { contract: input.contract }),
      canAsk: input.canAsk,
    },
    limits: {
      idleSeconds: input.limits.idleSeconds,
      maxDurationSeconds: toTimeLeft(session, turn),
    },
    watchdog: input.watchdog,
    ...(trace === undefined ? {} : { trace }),
  };
}

/** A turn's ceiling is one for all of its steps. */
function toTimeLeft(session: SessionContext, number: number): number {
  const startedAtMs = findTurn(session, number)?.startedAtMs ?? Date.now();
  const usedSeconds = Math.floor((Date.now() - startedAtMs) / 1000);
  return Math.max(1, session.input.limits.turnMaxDurationSeconds - usedSeconds);
}

function hasLeftovers(session: SessionContext): boolean {
  return session.state.delegations.some((delegation) => delegation.status === "running");
}

/** Wait for what still runs and give the main agent the reports in a further step of the same turn. */
async function deliverLeftovers(
  session: SessionContext,
  scope: CancellationScope,
  number: number,
  step: number,
): Promise<AgentRunOutcome> {
  const waiting = listRunning(session).map(({ id }) => id);
  await scope.run(() => condition(() => !hasLeftovers(session))).catch(() => undefined);
  const found = session.state.delegations.filter(({ id }) => waiting.includes(id));
  const targets = boundReports(found);
  const reportLengths = found.map(({ report }) => report.length);
  const answer = {
    waitedSeconds: 0,
    isTimedOut: false,
    targets,
    reportLengths,
    unknown: [],
    noLongerKept: [],
    nowMs: Date.now(),
  };
  const text = toTaskWaitText(answer, new Map());
  markHandedOver(session, found);
  return await runMain(
    session,
    scope,
    number,
    step,
    `The delegates that were still running have ended. Their reports:\n\n${text}`,
  );
}

async function endDelegates(session: SessionContext, delegations: Delegations): Promise<void> {
  requestStopOfAll(session, delegations, "aborted");
  const isQuiet = () => listRunning(session).length === 0;
  if (!isQuiet()) {
    const patienceMs = (STOP_EFFECT_SECONDS + TASK_STOP_ANSWER_SECONDS) * 1000;
    await condition(isQuiet, patienceMs, { summary: "the turn's end waits for its delegates" });
  }
}

function recordProgress(session: SessionContext, number: number, outcome: AgentRunOutcome): void {
  const turn = findTurn(session, number);
  if (turn === undefined) return;
  turn.turns += outcome.turns;
  if (outcome.turns > 0) session.state.hasTranscript = true;
  turn.toolCalls += outcome.toolCalls;
  turn.usage = addUsage(turn.usage, outcome.usage);
  turn.attempts += outcome.attempts;
}

function endTurn(session: SessionContext, number: number, outcome: AgentRunOutcome): void {
  const turn = findTurn(session, number);
  if (turn === undefined) return;
  turn.status = toTurnStatus(outcome.status);
  turn.answer = outcome.report;
  if (outcome.error !== undefined) turn.error = outcome.error;
  turn.endedAtMs = Date.now();
  countTurn(turn);
  recordStory(session, turn);
}
