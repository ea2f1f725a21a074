import type { ReplayWorkerOptions } from "@temporalio/worker";
import { checkEvents } from "./check-events.ts";
import { type Divergence, explain } from "./explain.ts";
import { findForeignEncoding } from "./foreign-encoding.ts";
import { type History, HistoryError, type HistoryFacts, readFacts } from "./history.ts";
import { type Replayed, ReplayWorker } from "./replay-worker.ts";

/** A history to replay, or why there is none. */
export type HistorySource =
  /** `name` is what the outcome is listed under, such as a file; `runId` is given where it is known better than by the history. */
  { name: string; history: History; runId?: string } | { name: string; error: HistoryError };

/** What became of one history. */
export interface ReplayOutcome {
  name: string;
  /**
   * `replays`: the code does what the history has. `diverged`: it does something else. `code-failed`: it throws where the history went on.
   * `unknown-type`: there is no workflow of this type in the bundle. `unreadable`: no history, or one that contradicts itself.
   * `not-found`: there is no such file or workflow.
   */
  status: "replays" | "diverged" | "code-failed" | "unknown-type" | "unreadable" | "not-found";
  /** One sentence for a person. */
  text: string;
  /** What the history says of itself, if it could be read. */
  facts?: HistoryFacts;
  /** Where and how, for `diverged` and `code-failed`. */
  divergence?: Divergence;
}

/**
 * Replay histories against workflow code, one after the other, and say of each what became of it. Nothing is run but workflow code: no activity, no
 * server. Each is replayed under the id of its own workflow, since ids of children derive from it.
 *
 * One outcome for each history, in their order; one that fails does not end the others. Pass the data converter, if the workflows have one of their own.
 *
 * @throws if the bundle can't be used at all.
 */
export async function* replayHistories(
  histories: Iterable<HistorySource> | AsyncIterable<HistorySource>,
  options: ReplayWorkerOptions,
): AsyncGenerator<ReplayOutcome> {
  const worker = new ReplayWorker(options);
  try {
    for await (const source of histories) yield await replayOne(source, worker, options);
  } finally {
    await worker.close();
  }
}

async function replayOne(
  source: HistorySource,
  worker: ReplayWorker,
  { dataConverter }: ReplayWorkerOptions,
): Promise<ReplayOutcome> {
  const { name } = source;
  let facts: HistoryFacts | undefined;
  try {
    if ("error" in source) throw source.error;
    const { history } = source;
    facts = { ...readFacts(history), ...(source.runId === undefined ? {} : { runId: source.runId }) };
    checkEvents(history.events ?? []);
    const encoding = dataConverter === undefined ? findForeignEncoding(history) : undefined;
    if (encoding !== undefined) throw new HistoryError(explainEncoding(encoding));
    if (!facts.hasWork) {
      return {
        name,
        status: "replays",
        facts,
        text: "no code of it has run yet: there is nothing to replay",
      };
    }
    const replayed = await worker.replay(history, facts.workflowId);
    return { name, facts, ...(await toOutcome(replayed, history, facts, worker)) };
  } catch (error) {
    if (error === worker.startError) throw error;
    const status = error instanceof HistoryError && error.isMissing ? "not-found" : "unreadable";
    const said = error instanceof Error ? error.message : String(error);
    const text = error instanceof HistoryError ? said : `no sense can be made of it: ${said}`;
    return { name, status, text, ...(facts === undefined ? {} : { facts }) };
  }
}

async function toOutcome(
  replayed: Replayed,
  history: History,
  facts: HistoryFacts,
  worker: ReplayWorker,
): Promise<Pick<ReplayOutcome, "status" | "text" | "divergence">> {
  if (replayed.kind === "replays") return { status: "replays", text: "replays" };
  if (/^Maximum call stack/.test(replayed.message) && replayed.kind === "sdk-failed")
    throw new HistoryError("it is nested too deeply to be a history");
  if (replayed.kind === "sdk-failed")
    throw new HistoryError(`the SDK can't make sense of it: ${replayed.message}`);
  if (/^Failed to initialize workflow of type/.test(replayed.message)) {
    return {
      status: "unknown-type",
      text: `there is no workflow of type ${facts.workflowType} in the bundle`,
    };
  }
  const divergence = await explain(history, facts.workflowId, replayed, worker);
  const place = divergence.event === undefined ? "" : ` at event ${divergence.event.eventId}`;
  return replayed.kind === "diverged"
    ? { status: "diverged", text: `diverged${place}: ${divergence.reason}`, divergence }
    : { status: "code-failed", text: `the code fails${place}: ${divergence.reason}`, divergence };
}

function explainEncoding(encoding: string): string {
  return `its payloads are encoded as ${encoding}, which only your own data converter can read: download it decoded by your codec server, or replay it in a test that passes \`dataConverter\``;
}
