import type { AgentRunInput } from "../../core/agent-run.ts";
import { type Delegation, settleDelegation } from "../../core/delegation.ts";
import { RUNNING_CAP } from "../../core/limits.ts";
import { type SessionView, toDelegateWorkflowId } from "../../core/messages.ts";
import type { PermissionQuestionRecord } from "../../core/permission-questions.ts";
import { mapBounded } from "../map-bounded.ts";
import { LOOKS_AT_ONCE, type SessionCalls } from "../session-calls.ts";
import { SessionError, sessionErrorCodes } from "../session-error.ts";
import type { Fact } from "./facts.ts";
import { foldSession, type SessionRecords } from "./fold-session.ts";
import type { Remark } from "./remark.ts";
import { endTurnWithSession, type SessionEnd, toSettlement } from "./settlement.ts";

/** All that the server's own records tell of a session. It needs no worker, and holds whatever ended the session. */
export interface SessionStory {
  /** As the session itself would show it, reports and answers included; what runs, runs by the delegate's own workflow. */
  view: SessionView;
  startedAtMs: number;
  /** Undefined while it is open. */
  end: SessionEnd | undefined;
  /** What each delegate was asked, of those that this run of the session started. */
  tasks: ReadonlyMap<string, AgentRunInput>;
  remarks: readonly Remark[];
  /** Set if the session continued as new: of what was before this time only the records that it carried are told. */
  carriedAtMs: number | undefined;
}

/** Read a session's story. @throws SessionError Session.NotFound. */
export async function readSessionStory(
  calls: SessionCalls,
  sessionId: string,
  signal?: AbortSignal,
): Promise<SessionStory> {
  const records = await readRecords(calls, sessionId, signal);
  const { state, input } = records;
  if (input === undefined) {
    throw new SessionError(
      sessionErrorCodes.failed,
      `the records of ${sessionId} can't be read: they are no session's, or written with another data converter`,
    );
  }
  const end = toSessionEnd(records);
  const delegations = await lookUp(calls, sessionId, state.delegations, end !== undefined);
  const startedAtMs = records.hasEarlierRuns
    ? await calls.findStart(sessionId, records.firstRunId, records.beganAtMs)
    : records.beganAtMs;
  return {
    view: {
      sessionId,
      input,
      permissionMode: state.permissionMode,
      turns: end === undefined ? state.turns : state.turns.map((turn) => endTurnWithSession(turn, end)),
      delegations,
      questions: toQuestions(state.questions, end !== undefined),
      runningCap: RUNNING_CAP,
      isClosing: records.isClosing || end !== undefined,
      nowMs: Date.now(),
    },
    startedAtMs,
    end,
    tasks: records.tasks,
    remarks: records.remarks,
    carriedAtMs: records.hasEarlierRuns ? records.beganAtMs : undefined,
  };
}

/** Those that are open first; nobody answers what a session that has ended left open. */
function toQuestions(
  records: readonly PermissionQuestionRecord[],
  isOver: boolean,
): PermissionQuestionRecord[] {
  const settled = records
    .filter(({ state }) => state !== "open" || isOver)
    .map((question) => (question.state === "open" ? { ...question, state: "withdrawn" as const } : question));
  const open = isOver ? [] : records.filter(({ state }) => state === "open");
  return [...open, ...settled.toReversed()];
}

/** Tell the story of a session that has ended once more: nothing of it changes but its delegates that still run. */
export async function refreshStory(calls: SessionCalls, story: SessionStory): Promise<SessionStory> {
  const { view } = story;
  const running = view.delegations.filter(({ status }) => status === "running");
  if (running.length === 0) return story;
  const now = new Map((await lookUp(calls, view.sessionId, running, true)).map((each) => [each.id, each]));
  const delegations = view.delegations.map((each) => now.get(each.id) ?? each);
  return { ...story, view: { ...view, delegations, nowMs: Date.now() } };
}

const READS = 3;

/** A run that has just continued as new makes way for the next one. */
async function readRecords(
  calls: SessionCalls,
  sessionId: string,
  signal: AbortSignal | undefined,
): Promise<SessionRecords> {
  for (let read = 1; ; read += 1) {
    const records = foldSession(await calls.readFacts(sessionId, signal));
    if (records.end?.how !== "continued" || read === READS) return records;
  }
}

function toSessionEnd({ end }: SessionRecords): SessionEnd | undefined {
  if (end === undefined || end.how === "continued") return undefined;
  return { how: end.how, atMs: end.atMs, reason: end.message, by: end.by };
}

/**
 * Tell by their own workflows how delegates stand, as many as look as if they ran. Those whose report was left behind get it back.
 *
 * @param isOver a delegate without a workflow was deleted: its session starts no more
 */
export async function lookUp(
  calls: SessionCalls,
  sessionId: string,
  delegations: readonly Delegation[],
  isOver: boolean,
): Promise<Delegation[]> {
  return await mapBounded(delegations, LOOKS_AT_ONCE, async (record) => {
    const isRunning = record.status === "running";
    if (!isRunning && record.reportState !== "away") return record;
    const end = await calls.findEnd(toDelegateWorkflowId(sessionId, record.id));
    if (end === "running") return record;
    if (end === "missing") return isRunning && isOver ? settle(record, toDeleted()) : record;
    return isRunning ? settle(record, end) : giveBack(record, end);
  });
}

type Ending = Extract<Fact, { kind: "ended" }>;

function toDeleted(): Omit<Ending, "how"> & { how: "deleted" } {
  return { kind: "ended", atMs: Date.now(), how: "deleted", message: "", by: "", result: undefined };
}

function settle(
  record: Delegation,
  end: Omit<Ending, "how"> & { how: Ending["how"] | "deleted" },
): Delegation {
  return settleDelegation(record, toSettlement(record, end.how, end.result, end.message), end.atMs);
}

function giveBack(record: Delegation, end: Ending): Delegation {
  const { report } = toSettlement(record, end.how, end.result, end.message);
  if (report === "") return record;
  const { reportState: _, ...rest } = record;
  return { ...rest, report };
}

/** The session at a glance: reports and answers are left out. */
export function toListedView({ view }: SessionStory): SessionView {
  return {
    ...view,
    turns: view.turns.map((turn) => ({ ...turn, answer: "" })),
    delegations: view.delegations.map((delegation) => ({ ...delegation, report: "" })),
  };
}
