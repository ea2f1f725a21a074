import type { Client, WorkflowExecutionInfo } from "@temporalio/client";
import { toDelegateWorkflowId, workflowNames } from "../core/messages.ts";
import { callServer } from "./call-server.ts";
import { mapBounded } from "./map-bounded.ts";
import { LOOKS_AT_ONCE } from "./session-calls.ts";
import { QUERY_PATIENCE_MS } from "./session-deadlines.ts";

/** What was read of a list, and whether the server has more of it. */
export interface ListedWorkflows {
  found: WorkflowExecutionInfo[];
  isCutShort: boolean;
}

const MAX_READ = 10_000;
/** A page of the longest memos stays far below what one answer may hold. */
const PAGE_SIZE = 200;
const FIRST_WINDOW_MS = 60_000;
const WINDOW_GROWTH = 8;
/** So often a window is halved: from a day to seconds. Workflows begun together more closely are read together. */
const MAX_HALVINGS = 16;

/** Read all that a query finds, in the server's order, which is not that of the beginnings: those that run come first, the others by their end. */
export async function readAll(client: Client, query: string): Promise<ListedWorkflows> {
  return await callServer(client, { patienceMs: QUERY_PATIENCE_MS }, async () => {
    const found: WorkflowExecutionInfo[] = [];
    for await (const info of client.workflow.list({ query, pageSize: PAGE_SIZE })) {
      if (found.length === MAX_READ) return { found, isCutShort: true };
      found.push(info);
    }
    return { found, isCutShort: false };
  });
}

/**
 * Read those that began last, at least `limit` of them if there are as many, and not many more: the server counts how many began within a time
 * before `untilMs`, and only those are read.
 */
export async function readLatest(
  client: Client,
  query: string,
  limit: number,
  untilMs: number,
): Promise<ListedWorkflows & { total: number }> {
  const total = await count(client, query);
  if (total <= limit + PAGE_SIZE) return { ...(await readAll(client, query)), total };
  const since = (windowMs: number) =>
    `${query} AND StartTime >= '${new Date(untilMs - windowMs).toISOString()}'`;
  let shortMs = 0;
  let windowMs = FIRST_WINDOW_MS;
  let within = await count(client, since(windowMs));
  while (within < limit) {
    shortMs = windowMs;
    windowMs *= WINDOW_GROWTH;
    if (windowMs >= untilMs) return { ...(await readAll(client, query)), total };
    within = await count(client, since(windowMs));
  }
  for (let halving = 0; halving < MAX_HALVINGS && within > limit + PAGE_SIZE; halving += 1) {
    const middleMs = Math.round((shortMs + windowMs) / 2);
    const inMiddle = await count(client, since(middleMs));
    if (inMiddle < limit) shortMs = middleMs;
    else {
      windowMs = middleMs;
      within = inMiddle;
    }
  }
  return { ...(await readAll(client, since(windowMs))), total };
}

/** How many delegates of each of these sessions run. */
export async function countRunningDelegates(
  client: Client,
  sessionIds: readonly string[],
): Promise<Map<string, number>> {
  const running = `WorkflowType = '${workflowNames.delegate}' AND ExecutionStatus = 'Running'`;
  if (sessionIds.length === 0 || (await count(client, running)) === 0) return new Map();
  const counts = await mapBounded(sessionIds, LOOKS_AT_ONCE, async (sessionId) => {
    const listed = await readAll(
      client,
      `${running}${toBeginning(toDelegateWorkflowId(sessionId, "task-"))}`,
    );
    return listed.found.filter(({ parentExecution }) => parentExecution?.workflowId === sessionId).length;
  });
  return new Map(sessionIds.map((sessionId, index) => [sessionId, counts[index] ?? 0]));
}

async function count(client: Client, query: string): Promise<number> {
  return await callServer(
    client,
    { patienceMs: QUERY_PATIENCE_MS },
    async () => (await client.workflow.count(query)).count,
  );
}

/** Narrows a query to ids that begin so, as far as nothing in it has to be escaped: servers differ in that. */
function toBeginning(id: string): string {
  const [plain] = /^[\w.:@/ -]*/.exec(id) ?? [""];
  return plain === "" ? "" : ` AND WorkflowId STARTS_WITH '${plain}'`;
}
