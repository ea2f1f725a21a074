import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { MetricMeter } from "@temporalio/common";
import { MockActivityEnvironment } from "@temporalio/testing";
import { DefaultLogger } from "@temporalio/worker";
import { createActivities, createFileJournalStore } from "../../activities/index.ts";
import type { AgentRunDetails, AgentRunInput, AgentRunOutcome } from "../../core/agent-run.ts";
import { toStateFolder } from "../../core/state-folder.ts";

export interface OneRunOptions {
  /** What the main agent's model says. */
  script: object[];
  idleSeconds?: number;
  meter?: MetricMeter;
}

export interface OneRun {
  outcome: AgentRunOutcome;
  /** Details of all heartbeats. */
  beats: AgentRunDetails[];
  /** What the activity logged. */
  log: string[];
}

/** Carry out one `runAgent` without a server: a real agent thread, journal, tools and processes; only the model's words are scripted. */
export async function runOne({ script, idleSeconds = 300, meter }: OneRunOptions): Promise<OneRun> {
  const folder = await mkdtemp(path.join(tmpdir(), "one-run-"));
  const workspace = path.join(folder, "workspace");
  await mkdir(workspace);
  const file = path.join(folder, "script.json");
  await writeFile(file, JSON.stringify({ main: script }));
  const stateFolder = toStateFolder({ XDG_STATE_HOME: path.join(folder, "state") }, undefined);
  const { runAgent } = createActivities({
    stateFolder,
    journals: createFileJournalStore(stateFolder),
    builtinDirectory: folder,
    userDirectory: undefined,
    address: "",
    worker: "one run",
    sessionFor: () => {
      throw new Error("this run asks no session");
    },
    askStanding: async () => "wanted",
  });
  const log: string[] = [];
  const environment = new MockActivityEnvironment(
    { scheduledTimestampMs: Date.now(), currentAttemptScheduledTimestampMs: Date.now() },
    {
      logger: new DefaultLogger("INFO", ({ message }) => void log.push(message)),
      ...(meter === undefined ? {} : { metricMeter: meter }),
    },
  );
  const beats: AgentRunDetails[] = [];
  environment.on("heartbeat", (details: AgentRunDetails) => void beats.push(details));
  const input = toInput(workspace, file, idleSeconds);
  const outcome = await environment.run<[AgentRunInput], AgentRunOutcome, typeof runAgent>(runAgent, input);
  return { outcome, beats, log };
}

function toInput(workspace: string, file: string, idleSeconds: number): AgentRunInput {
  return {
    role: "main",
    sessionId: "s-1",
    chain: "main",
    runId: "turn-1",
    agent: "main",
    turn: 1,
    prompt: "go",
    workspace,
    model: { kind: "script", file },
    tools: ["Bash"],
    catalogue: [],
    permission: { mode: "auto", scope: "inherit", canAsk: false },
    limits: { idleSeconds, maxDurationSeconds: 600 },
    watchdog: "enforce",
  };
}
