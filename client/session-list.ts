import type { Client } from "@temporalio/client";
import { refusals, workflowNames } from "../core/messages.ts";
import { normalizeAgentName } from "../core/names.ts";
import { SessionRefusal } from "../core/session-port.ts";
import { countRunningDelegates, type ListedWorkflows, readAll, readLatest } from "./session-index.ts";
import { type SessionSummary, toSummary } from "./session-summary.ts";

/** Say which sessions are listed; all that is given must hold. */
export interface ListFilter {
  /** Only sessions that are open, or only those that are closed. */
  isOpen?: boolean;
  /** Only those that stand so: a session's own status, or that of its latest turn that has ended. An empty list is met by none. */
  statuses?: readonly string[];
  /** Begun at or after this time, or before it. A session that continued as new counts from its latest run. */
  sinceMs?: number;
  untilMs?: number;
  taskQueue?: string;
  /** In this folder or below it; absolute. */
  workspace?: string;
  /** Sessions in which a delegate of this definition ran. */
  agent?: string;
  /** In the beginning of the first message, whatever the case. */
  text?: string;
  /** At most so many, the latest first; a whole number from 1. Default 50. */
  limit?: number;
}

/** What was found, and what was not looked at. */
export interface FoundSessions {
  sessions: SessionSummary[];
  /** Sessions that match beyond the limit. */
  more: number;
  /** Whether the server has more sessions or delegates than were looked at. */
  isCutShort: boolean;
}

const DEFAULT_LIMIT = 50;

/** Statuses that are a session's own alone; all others may be those of its latest turn too. */
const serverStatuses: Readonly<Record<string, string>> = {
  open: "Running",
  closed: "Completed",
  cancelled: "Canceled",
  terminated: "Terminated",
};

/**
 * Find sessions by the server's index, which may lag behind by a moment.
 *
 * Openness, `sinceMs`, `untilMs`, the task queue and statuses that only sessions have are left to the server's own query, and no more than the latest are
 * read. Workspace, text, agent and the other statuses are filtered here, on the memos of all that the server lists.
 *
 * @throws SessionRefusal Input.Invalid for a limit that is none.
 */
export async function findSessions(client: Client, filter: ListFilter): Promise<FoundSessions> {
  const limit = toLimit(filter);
  if (filter.statuses?.length === 0) return { sessions: [], more: 0, isCutShort: false };
  const { matching, total, isCutShort } = isLeftToServer(filter)
    ? await findLatest(client, filter, limit)
    : await findMatching(client, filter);
  const shown = matching.toSorted((left, right) => right.startedAtMs - left.startedAtMs).slice(0, limit);
  const open = shown.filter(({ status }) => status === "open").map(({ sessionId }) => sessionId);
  const running = await countRunningDelegates(client, open);
  return {
    sessions: shown.map((session) => ({
      ...session,
      runningDelegates: running.get(session.sessionId) ?? 0,
    })),
    more: Math.max(0, total - shown.length),
    isCutShort,
  };
}

function toLimit({ limit = DEFAULT_LIMIT }: ListFilter): number {
  if (Number.isSafeInteger(limit) && limit >= 1) return limit;
  throw new SessionRefusal(refusals.badInput, `limit is a whole number from 1, not ${limit}`);
}

interface Matching {
  matching: SessionSummary[];
  total: number;
  isCutShort: boolean;
}

async function findLatest(client: Client, filter: ListFilter, limit: number): Promise<Matching> {
  const untilMs = Math.min(filter.untilMs ?? Number.POSITIVE_INFINITY, Date.now());
  const { found, total, isCutShort } = await readLatest(client, toQuery(filter), limit, untilMs);
  return { matching: found.map(toSummary), total, isCutShort };
}

async function findMatching(client: Client, filter: ListFilter): Promise<Matching> {
  const agents = filter.agent === undefined ? undefined : await listParentsOf(client, filter.agent);
  const listed = await readAll(client, toQuery(filter));
  const matching = listed.found
    .map(toSummary)
    .filter((session) => isMatch(session, filter) && (agents?.parents.has(session.sessionId) ?? true));
  return {
    matching,
    total: matching.length,
    isCutShort: listed.isCutShort || (agents?.isCutShort ?? false),
  };
}

/** Whether the server's query says all that the filter does. */
function isLeftToServer({ statuses, taskQueue, workspace, agent, text }: ListFilter): boolean {
  return (
    workspace === undefined &&
    agent === undefined &&
    text === undefined &&
    (statuses === undefined || isSessionsOwn(statuses)) &&
    (taskQueue === undefined || isPlainName(taskQueue))
  );
}

function isSessionsOwn(statuses: readonly string[]): boolean {
  return statuses.every((status) => Object.hasOwn(serverStatuses, status));
}

/** What would have to be escaped is compared here alone. */
function isPlainName(name: string): boolean {
  return /^[\w.-]+$/.test(name);
}

function toQuery({ isOpen, sinceMs, untilMs, taskQueue, statuses }: ListFilter): string {
  const own = statuses !== undefined && isSessionsOwn(statuses) ? statuses : [];
  return [
    `WorkflowType = '${workflowNames.session}'`,
    // Earlier runs of a session that continued as new are not sessions of their own.
    "ExecutionStatus != 'ContinuedAsNew'",
    ...(isOpen === undefined ? [] : [`ExecutionStatus ${isOpen ? "=" : "!="} 'Running'`]),
    ...(own.length > 0
      ? [`ExecutionStatus IN (${own.map((status) => `'${serverStatuses[status]}'`).join(", ")})`]
      : []),
    ...(sinceMs === undefined ? [] : [`StartTime >= '${new Date(sinceMs).toISOString()}'`]),
    ...(untilMs === undefined ? [] : [`StartTime < '${new Date(untilMs).toISOString()}'`]),
    ...(taskQueue !== undefined && isPlainName(taskQueue) ? [`TaskQueue = '${taskQueue}'`] : []),
  ].join(" AND ");
}

function isMatch(session: SessionSummary, { statuses, taskQueue, workspace, text }: ListFilter): boolean {
  const { status, turn } = session;
  if (statuses !== undefined && !statuses.includes(status) && !statuses.includes(turn?.status ?? ""))
    return false;
  if (taskQueue !== undefined && session.taskQueue !== taskQueue) return false;
  if (workspace !== undefined && !`${session.workspace}/`.startsWith(`${workspace.replace(/\/+$/, "")}/`))
    return false;
  return text === undefined || toComparable(session.prompt).includes(toComparable(text));
}

function toComparable(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

/** Sessions in which a delegate of an agent ran: a delegate's memo names its agent, also where search attributes are not registered. */
async function listParentsOf(
  client: Client,
  agent: string,
): Promise<{ parents: Set<string>; isCutShort: boolean }> {
  const wanted = normalizeAgentName(agent);
  const { found, isCutShort }: ListedWorkflows = await readAll(
    client,
    `WorkflowType = '${workflowNames.delegate}'`,
  );
  const own = found.filter(({ memo }) => memo?.agent === wanted);
  return {
    parents: new Set(own.flatMap(({ parentExecution }) => parentExecution?.workflowId ?? [])),
    isCutShort,
  };
}
