import { type Client, isGrpcServiceError } from "@temporalio/client";
import { WorkflowNotFoundError } from "@temporalio/common";
import type { temporal } from "@temporalio/proto";
import { callServer } from "./call-server.ts";

type History = temporal.api.history.v1.IHistory;

/** One run's history, as the server has it. */
export interface WorkflowHistory {
  workflowId: string;
  runId: string;
  history: History;
}

/** Say which histories come with a workflow's. */
export interface HistoriesOptions {
  /** One run alone. By default all runs that continued one another as new, or were retried, the latest first. */
  runId?: string | undefined;
  /** Whether the histories of children, such as a session's delegates, come too, and of theirs. */
  hasChildren: boolean;
  signal: AbortSignal;
  /** Told of a run that the server keeps no longer. The workflow itself must be there. */
  onGone(workflowId: string, runId: string): void;
}

const FETCH_PATIENCE_MS = 60_000;

/**
 * Fetch the histories of a workflow, one after the other; needs no worker.
 *
 * @throws what {@link isNotFound} knows if there is no such workflow or run.
 */
export async function* fetchHistories(
  client: Client,
  workflowId: string,
  options: HistoriesOptions,
): AsyncGenerator<WorkflowHistory> {
  const runId = options.runId ?? (await findLatestRun(client, workflowId, options.signal));
  const children = new Map<string, Run>();
  let run: Run | undefined = { workflowId, runId };
  for (let isFirst = true; run !== undefined; isFirst = false) {
    const found: WorkflowHistory | undefined = isFirst
      ? await fetchRun(client, run, options)
      : await fetchKept(client, run, options);
    if (found === undefined) break;
    yield found;
    for (const child of listChildren(found.history, client.options.namespace))
      children.set(child.runId, child);
    const earlier: string | null | undefined = toStarted(found.history)?.continuedExecutionRunId;
    run = earlier && options.runId === undefined ? { workflowId, runId: earlier } : undefined;
  }
  if (options.hasChildren) yield* fetchChildren(client, [...children.values()], options);
}

interface Run {
  workflowId: string;
  runId: string;
}

/** Children's runs, and the runs that followed them, as their parents' histories name them. */
async function* fetchChildren(
  client: Client,
  children: readonly Run[],
  options: HistoriesOptions,
): AsyncGenerator<WorkflowHistory> {
  const waiting = [...children];
  const seen = new Set<string>();
  for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) {
    if (seen.has(run.runId)) continue;
    seen.add(run.runId);
    const found = await fetchKept(client, run, options);
    if (found === undefined) continue;
    yield found;
    const next = findNextRun(found.history);
    waiting.unshift(
      ...(next ? [{ ...run, runId: next }] : []),
      ...listChildren(found.history, client.options.namespace),
    );
  }
}

async function findLatestRun(client: Client, workflowId: string, signal: AbortSignal): Promise<string> {
  const bounds = { patienceMs: FETCH_PATIENCE_MS, signal };
  const { runId } = await callServer(client, bounds, () => client.workflow.getHandle(workflowId).describe());
  return runId;
}

async function fetchRun(client: Client, run: Run, { signal }: HistoriesOptions): Promise<WorkflowHistory> {
  const { workflowId, runId } = run;
  const history = await callServer(client, { patienceMs: FETCH_PATIENCE_MS, signal }, () =>
    client.workflow.getHandle(workflowId, runId).fetchHistory(),
  );
  return { workflowId, runId, history };
}

async function fetchKept(
  client: Client,
  run: Run,
  options: HistoriesOptions,
): Promise<WorkflowHistory | undefined> {
  try {
    return await fetchRun(client, run, options);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    options.onGone(run.workflowId, run.runId);
    return undefined;
  }
}

/** Whether the server says that there is no such workflow or run. */
export function isNotFound(error: unknown): boolean {
  return (
    error instanceof WorkflowNotFoundError || (isGrpcServiceError(error) && error.code === GRPC_NOT_FOUND)
  );
}

const GRPC_NOT_FOUND = 5;

function toStarted({ events }: History) {
  return events?.[0]?.workflowExecutionStartedEventAttributes;
}

/** Children that began, in this namespace. */
function listChildren({ events }: History, namespace: string): Run[] {
  return (events ?? []).flatMap(({ childWorkflowExecutionStartedEventAttributes: started }) => {
    const { workflowId, runId } = started?.workflowExecution ?? {};
    const isHere = !started?.namespace || started.namespace === namespace;
    return workflowId && runId && isHere ? [{ workflowId, runId }] : [];
  });
}

/** The run that followed this one: as new, or as its next try. */
function findNextRun({ events }: History): string | undefined {
  const last = events?.at(-1);
  const next =
    last?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ||
    last?.workflowExecutionFailedEventAttributes?.newExecutionRunId ||
    last?.workflowExecutionTimedOutEventAttributes?.newExecutionRunId ||
    last?.workflowExecutionCompletedEventAttributes?.newExecutionRunId;
  return next || undefined;
}
