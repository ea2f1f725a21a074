import { randomUUID } from "node:crypto";
import { ApplicationFailure, Context } from "@temporalio/activity";
import type { AgentRunDetails, AgentRunInput, AgentRunOutcome } from "../../core/agent-run.ts";
import { countLosses } from "../../core/attempts.ts";
import { MAX_WORKER_LOSSES } from "../../core/limits.ts";
import type { FailureCode } from "../../core/status.ts";
import { toDelegateSystemPrompt, toMainSystemPrompt } from "../../core/system-prompt.ts";
import { readPrompt } from "../definitions/prompt-store.ts";
import { JournalOvertaken } from "../journal/journal-error.ts";
import { killOrphans, killRun } from "../processes/end-processes.ts";
import { ownProcessIdentity } from "../processes/process-identity.ts";
import type { RunTelemetry } from "../telemetry/run-telemetry.ts";
import type { ThreadStart } from "../thread/protocol.ts";
import { Attempt, describeJournalError } from "./attempt.ts";
import { guardAttempt } from "./attempt-guard.ts";
import type { Heartbeater } from "./heartbeater.ts";
import type { ActivityHost } from "./host.ts";
import { openResumePoint, type ResumePoint } from "./resume.ts";
import { openFolders, toChainMarker, toRunMarker } from "./run-folders.ts";
import type { RunMonitor } from "./run-monitor.ts";
import { toFailure, toOutcome } from "./run-outcome.ts";
import { writeRunRecord } from "./run-record.ts";

export interface RunInProgress {
  run: AgentRunInput;
  host: ActivityHost;
  monitor: RunMonitor;
  heartbeater: Heartbeater;
  telemetry: RunTelemetry;
  attempt: number;
  /** Details of the last attempt that could speak. */
  previous: AgentRunDetails | undefined;
  /** There are details, of another version of this code: how many workers were lost can't be told, so none is counted. */
  isHistoryUnreadable: boolean;
}

/** Carry out one attempt: take the journal over, work, and leave nothing behind. */
export async function carryOut(progress: RunInProgress): Promise<AgentRunOutcome> {
  const { run, host, attempt } = progress;
  const marker = toRunMarker(host.stateFolder, run, attempt, randomUUID());
  let forget: () => void;
  try {
    // The very first thing: from here on a restarted worker can hand the attempt back.
    forget = await writeRunRecord(host.stateFolder, toRecord(progress, marker));
  } catch (error) {
    return fail(progress, "JOURNAL_UNAVAILABLE", describeJournalError(error));
  }
  try {
    return await takeUp(progress, marker);
  } finally {
    forget();
  }
}

async function takeUp(progress: RunInProgress, marker: string): Promise<AgentRunOutcome> {
  const { run, host, monitor, attempt, previous } = progress;
  const chainMarker = toChainMarker(host.stateFolder, run);
  // What an attempt that was lost has left running would work against this one.
  await killOrphans((found) => found.startsWith(chainMarker) && found !== marker);
  let point: ResumePoint;
  try {
    const { info } = Context.current();
    const scheduledAtMs = info.currentAttemptScheduledTimestampMs;
    const execution = info.workflowExecution?.runId;
    const { worker } = monitor.toDetails();
    const from = { number: attempt, execution, scheduledAtMs, worker, previous };
    point = await openResumePoint(run, from, host.journals);
  } catch (error) {
    if (error instanceof JournalOvertaken) throw toReplaced();
    return fail(progress, "JOURNAL_UNAVAILABLE", describeJournalError(error));
  }
  try {
    if (point.outcome !== undefined) return { ...point.outcome, attempts: attempt };
    monitor.resume(
      point,
      progress.isHistoryUnreadable ? 0 : countLosses(attempt, previous, point.start.turns),
    );
    const outcome = await carryOutFrom(progress, point, marker);
    const execution = Context.current().info.workflowExecution?.runId;
    await point.writer
      .append({
        kind: "end",
        runId: run.runId,
        ...(execution === undefined ? {} : { execution }),
        outcome,
        atMs: Date.now(),
      })
      .catch(() => undefined);
    return outcome;
  } finally {
    await point.writer.close();
  }
}

async function carryOutFrom(
  progress: RunInProgress,
  point: ResumePoint,
  marker: string,
): Promise<AgentRunOutcome> {
  const { monitor } = progress;
  if (monitor.losses >= MAX_WORKER_LOSSES) {
    return fail(
      progress,
      "WORKER_LOST",
      `its worker was lost ${monitor.losses} times with no turn finished in between`,
    );
  }
  const prepared = await prepare(progress, point, marker).catch((error: Error) => error);
  if (prepared instanceof Error) return fail(progress, "START_FAILED", prepared.message);
  try {
    return await work(progress, point, prepared, marker);
  } finally {
    await killRun(marker);
  }
}

/** Find out what the agent thread needs. @throws Error with a text for people. */
async function prepare(
  { run, host, telemetry }: RunInProgress,
  point: ResumePoint,
  marker: string,
): Promise<ThreadStart> {
  const tools = await openFolders(run, host.stateFolder, marker);
  const { isTraced } = telemetry;
  return { run, systemPrompt: await toSystemPrompt(run, host), isTraced, tools, ...point.start };
}

async function toSystemPrompt(run: AgentRunInput, host: ActivityHost): Promise<string> {
  if (run.instructions === undefined) return toMainSystemPrompt(run);
  const reading = await readPrompt(host.stateFolder.prompts, run.instructions);
  if (reading.kind === "lost") throw new Error(reading.reason);
  return toDelegateSystemPrompt(run, reading.prompt);
}

async function work(
  progress: RunInProgress,
  point: ResumePoint,
  start: ThreadStart,
  marker: string,
): Promise<AgentRunOutcome> {
  const { run, host, monitor, heartbeater, telemetry } = progress;
  const { writer } = point;
  const attempt = new Attempt({ run, host, monitor, heartbeater, telemetry, writer, start });
  const release = guardAttempt(attempt, run, host);
  const end = await attempt.ended;
  release();
  const isOver = end.kind !== "handed-back" && end.kind !== "replaced";
  // What comes after the first cause changes nothing.
  const outcome = isOver ? toOutcome(run, end, monitor, progress.attempt) : undefined;
  telemetry.interrupt(end, outcome);
  monitor.startSaving();
  heartbeater.beatNow();
  // Side by side: a thread that is stuck in the kernel must not keep its processes alive.
  await Promise.all([attempt.dispose(), killRun(marker)]);
  if (outcome !== undefined) return outcome;
  if (end.kind === "handed-back") {
    monitor.isHandedBack = true;
    heartbeater.beatNow();
    throw end.failure;
  }
  throw toReplaced();
}

/** The server takes no answer of such an attempt any more; this one is never read as a stop, should it still do so. */
function toReplaced(): ApplicationFailure {
  return ApplicationFailure.retryable("another attempt has taken over", "Replaced");
}

function toRecord({ run, host, attempt }: RunInProgress, marker: string) {
  const { info } = Context.current();
  return {
    marker,
    sessionId: run.sessionId,
    chain: run.chain,
    attempt,
    taskToken: info.base64TaskToken,
    address: host.address,
    namespace: info.namespace,
    owner: ownProcessIdentity(),
  };
}

function fail({ run, monitor, attempt }: RunInProgress, code: FailureCode, message: string): AgentRunOutcome {
  return toFailure(run, monitor, attempt, code, message);
}
