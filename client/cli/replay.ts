import { stat } from "node:fs/promises";
import { BundleError, bundleWorkflowsFile } from "../../worker/replay/bundle-file.ts";
import { readHistories } from "../../worker/replay/history-files.ts";
import {
  type HistorySource,
  type ReplayOutcome,
  replayHistories,
} from "../../worker/replay/replay-histories.ts";
import { divertConsole, installReplayRuntime } from "../../worker/replay/replay-runtime.ts";
import { bundleWorkflows, type WorkflowBundle } from "../../worker/workflow-bundle.ts";
import { CliError } from "./cli-error.ts";
import type { ServerFlags } from "./connect.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import type { Host } from "./host.ts";
import { createHistoryServer } from "./replay-server.ts";
import { toReplaySummary, toReplayText } from "./replay-text.ts";

export interface ReplayFlags extends ServerFlags {
  /** A workflows file of one's own, in place of ours. */
  workflows?: string;
  runId?: string;
  /** Whether a workflow's children are replayed too. */
  delegates: boolean;
}

/** Replay histories, from files or from the server, against the code at hand. Files alone need no server. */
export async function replay(targets: string[], flags: ReplayFlags, host: Host): Promise<ExitCode> {
  const { output, interruption } = host;
  installReplayRuntime();
  // Results are on standard output alone. With --json, remarks are dropped, and these are some.
  divertConsole((text) => output.say(text.trimEnd()));
  const sorted = await sortTargets(targets);
  checkRunId(flags, sorted);
  const workflowBundle = await interruption.orElse(bundle(flags.workflows));
  const server = createHistoryServer(flags, host);
  const outcomes: ReplayOutcome[] = [];
  const replayAll = async () => {
    for await (const outcome of replayHistories(listSources(sorted, server), { workflowBundle })) {
      outcomes.push(outcome);
      output.event(toEvent(outcome));
      output.print(toReplayText(outcome, { isOwnBundle: flags.workflows === undefined }));
    }
  };
  try {
    await interruption.orElse(replayAll());
  } finally {
    await server.release();
  }
  const exitCode = toExitCode(outcomes);
  output.event({ type: "result", ...countOutcomes(outcomes), notKept: server.gone.length, exitCode });
  output.print(toReplaySummary(outcomes, server.gone.length));
  return exitCode;
}

type Target = { kind: "file" | "workflow"; name: string };

/** What exists as a path is one; the rest are workflow ids, but for what only a path looks like. */
async function sortTargets(targets: readonly string[]): Promise<Target[]> {
  return await Promise.all(
    targets.map(async (name): Promise<Target> => {
      const isFile = /^(\.{0,2}|~)[\\/]|\.jsonl?$/i.test(name) || (await stat(name).catch(() => undefined));
      return { kind: isFile ? "file" : "workflow", name };
    }),
  );
}

function checkRunId({ runId }: ReplayFlags, targets: readonly Target[]): void {
  if (runId === undefined || (targets.length === 1 && targets[0]?.kind === "workflow")) return;
  throw new CliError("Usage.Invalid", "--run-id goes with one workflow id, and with nothing else");
}

async function bundle(workflows: string | undefined): Promise<WorkflowBundle> {
  try {
    return await (workflows === undefined ? bundleWorkflows() : bundleWorkflowsFile(workflows));
  } catch (error) {
    if (error instanceof BundleError) throw new CliError("Workflows.Invalid", error.message);
    throw error;
  }
}

async function* listSources(
  targets: readonly Target[],
  server: ReturnType<typeof createHistoryServer>,
): AsyncGenerator<HistorySource> {
  for (const { kind, name } of targets) yield* kind === "file" ? readHistories(name) : server.fetch(name);
}

function toEvent({ name, status, text, facts, divergence }: ReplayOutcome) {
  const { hasWork: _, ...said } = facts ?? {};
  return {
    type: "replay",
    name,
    status,
    text,
    ...said,
    ...(divergence === undefined ? {} : { divergence }),
  };
}

function countOutcomes(outcomes: readonly ReplayOutcome[]) {
  const count = (status: ReplayOutcome["status"]) =>
    outcomes.filter((outcome) => outcome.status === status).length;
  return {
    histories: outcomes.length,
    replay: count("replays"),
    diverged: count("diverged"),
    codeFailed: count("code-failed"),
    unknownType: count("unknown-type"),
    unreadable: count("unreadable"),
    notFound: count("not-found"),
  };
}

/** What was tried and does not replay outranks what could not be tried. */
function toExitCode(outcomes: readonly ReplayOutcome[]): ExitCode {
  const has = (...statuses: ReplayOutcome["status"][]) =>
    outcomes.some(({ status }) => statuses.includes(status));
  if (has("diverged", "code-failed", "unknown-type")) return exitCodes.failed;
  return has("unreadable", "not-found") ? exitCodes.usage : exitCodes.completed;
}
