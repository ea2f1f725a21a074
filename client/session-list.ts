import type { Client, WorkflowExecutionInfo } from "@temporalio/client";
import { workflowNames } from "../core/messages.ts";
import { normalizeAgentName } from "../core/names.ts";
import { callServer } from "./call-server.ts";
import { QUERY_PATIENCE_MS } from "./session-deadlines.ts";
import { type SessionSummary, toSummary } from "./session-summary.ts";

export interface ListFilter {
  /** Only sessions that are open, or only those that are closed. */
  isOpen?: boolean;
  /** Only those that stand so: a session's own status, or that of its latest turn that has ended. */
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
  /** At most so many, the latest first. Default 50. */
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
/** The server lists without an order of its own: all that may match are read and put in order here. */
const MAX_READ = 10_000;
/** A page of the longest memos stays far below what one answer may hold. */
const PAGE_SIZE = 200;

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
 * Openness, `sinceMs`, `untilMs`, the task queue and statuses that only sessions have are left to the server's own query; workspace, text, agent and the
 * other statuses are filtered here, on the memos that the server lists.
 */
export async function findSessions(client: Client, filter: ListFilter): Promise<FoundSessions> {
  const limit = filter.limit ?? DEFAULT_LIMIT;
  const agents = filter.agent === undefined ? undefined : await listParentsOf(client, filter.agent);
  const listed = await listWorkflows(client, toQuery(filter));
  const matching = listed.found
    .map((info) => toSummary(info, new Map()))
    .filter((session) => isMatch(session, filter) && (agents?.parents.has(session.sessionId) ?? true))
    .toSorted((left, right) => right.startedAtMs - left.startedAtMs);
  const shown = matching.slice(0, limit);
  const running = shown.some(({ status }) => status === "open") ? await countRunning(client) : new Map();
  return {
    sessions: shown.map((session) => ({
      ...session,
      runningDelegates: running.get(session.sessionId) ?? 0,
    })),
    more: matching.length - shown.length,
    isCutShort: listed.isCutShort || (agents?.isCutShort ?? false),
  };
}

function toQuery({ isOpen, sinceMs, untilMs, taskQueue, statuses }: ListFilter): string {
  const own = statuses?.map((status) => serverStatuses[status]);
  const isOwn = own?.every((status) => status !== undefined);
  return [
    `WorkflowType = '${workflowNames.session}'`,
    // Earlier runs of a session that continued as new are not sessions of their own.
    "ExecutionStatus != 'ContinuedAsNew'",
    ...(isOpen === undefined ? [] : [`ExecutionStatus ${isOpen ? "=" : "!="} 'Running'`]),
    ...(isOwn ? [`ExecutionStatus IN (${own?.map((status) => `'${status}'`).join(", ")})`] : []),
    ...(sinceMs === undefined ? [] : [`StartTime >= '${new Date(sinceMs).toISOString()}'`]),
    ...(untilMs === undefined ? [] : [`StartTime < '${new Date(untilMs).toISOString()}'`]),
    // What would have to be escaped is compared here alone.
    ...(taskQueue !== undefined && /^[\w.-]+$/.test(taskQueue) ? [`TaskQueue = '${taskQueue}'`] : []),
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
  const { found, isCutShort } = await listWorkflows(client, `WorkflowType = '${workflowNames.delegate}'`);
  const own = found.filter(({ memo }) => memo?.agent === wanted);
  return {
    parents: new Set(own.flatMap(({ parentExecution }) => parentExecution?.workflowId ?? [])),
    isCutShort,
  };
}

async function countRunning(client: Client): Promise<Map<string, number>> {
  const query = `WorkflowType = '${workflowNames.delegate}' AND ExecutionStatus = 'Running'`;
  const counts = new Map<string, number>();
  for (const { parentExecution } of (await listWorkflows(client, query)).found) {
    const parent = parentExecution?.workflowId;
    if (parent) counts.set(parent, (counts.get(parent) ?? 0) + 1);
  }
  return counts;
}

async function listWorkflows(
  client: Client,
  query: string,
): Promise<{ found: WorkflowExecutionInfo[]; isCutShort: boolean }> {
  return await callServer(client, { patienceMs: QUERY_PATIENCE_MS }, async () => {
    const found: WorkflowExecutionInfo[] = [];
    for await (const info of client.workflow.list({ query, pageSize: PAGE_SIZE })) {
      if (found.length === MAX_READ) return { found, isCutShort: true };
      found.push(info);
    }
    return { found, isCutShort: false };
  });
}
