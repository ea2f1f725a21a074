import { fileURLToPath } from "node:url";
import { CancelledFailure, Context } from "@temporalio/activity";
import { type NativeConnection, Worker } from "@temporalio/worker";
import type { Activities } from "../../core/activities.ts";
import type { AgentRunDetails, AgentRunInput, AgentRunOutcome } from "../../core/agent-run.ts";
import type { Definition } from "../../core/definition.ts";
import { toDelegateTaskQueue } from "../../core/messages.ts";
import type { SessionInput } from "../../core/session.ts";
import { noUsage } from "../../core/status.ts";

/** Workers with the real workflows; only what an agent would do and say is fake. `hold` in a prompt: run until cancelled. */
export interface FakeWorker {
  /** Times that a run with this prompt was begun. */
  countRuns(prompt: string): number;
  /** End the held run with this prompt. */
  finish(prompt: string, report: string): void;
  stop(): Promise<void>;
}

export const sessionInput: SessionInput = {
  workspace: "/tmp",
  model: { kind: "script", file: "/tmp/script.json" },
  permissionMode: "ask",
  canAsk: false,
  leftovers: "abort",
  watchdog: "enforce",
  agentDirectories: [],
  projectAgents: false,
  modelAliases: {},
  limits: { idleSeconds: 30, maxDurationSeconds: 300, turnMaxDurationSeconds: 300 },
  hasSearchAttributes: false,
};

const explorer: Definition = {
  name: "explorer",
  description: "looks around",
  tools: ["Read"],
  permission: "inherit",
  source: "builtin",
  file: "explorer.md",
  promptSha256: "0".repeat(64),
};

export async function startFakeWorker(options: {
  connection: NativeConnection;
  namespace: string;
  taskQueue: string;
}): Promise<FakeWorker> {
  const begun: string[] = [];
  const held = new Map<string, (report: string) => void>();
  const activities: Activities = {
    runAgent: (input) => {
      begun.push(input.prompt);
      return input.prompt.includes("hold") ? holdRun(input, held) : Promise.resolve(toOutcome(input.prompt));
    },
    loadCatalogue: async () => ({ definitions: [explorer], problems: [] }),
    salvageRun: async () => ({ report: "", turns: 0, toolCalls: 0, usage: noUsage }),
  };
  const common = {
    connection: options.connection,
    namespace: options.namespace,
    maxHeartbeatThrottleInterval: 200,
  };
  const workflowsPath = fileURLToPath(new URL("../../workflows/index.ts", import.meta.url));
  const workers = await Promise.all([
    Worker.create({ ...common, taskQueue: options.taskQueue, workflowsPath, activities: { ...activities } }),
    Worker.create({
      ...common,
      taskQueue: toDelegateTaskQueue(options.taskQueue),
      activities: { ...activities },
    }),
  ]);
  const running = workers.map((worker) => worker.run());
  return {
    countRuns: (prompt) => begun.filter((each) => each === prompt).length,
    finish: (prompt, report) => held.get(prompt)?.(report),
    async stop() {
      for (const worker of workers) worker.shutdown();
      await Promise.all(running);
    },
  };
}

async function holdRun(
  input: AgentRunInput,
  held: Map<string, (report: string) => void>,
): Promise<AgentRunOutcome> {
  const { promise, resolve } = Promise.withResolvers<string>();
  held.set(input.prompt, resolve);
  const context = Context.current();
  const beat = () => context.heartbeat(toDetails(input, context.info.attempt));
  beat();
  const timer = setInterval(beat, 200);
  try {
    return toOutcome(await Promise.race([promise, context.cancelled]));
  } catch (error) {
    if (!(error instanceof CancelledFailure) || !context.cancellationDetails?.cancelRequested) throw error;
    return { ...toOutcome("as far as it came"), status: "cancelled" };
  } finally {
    clearInterval(timer);
  }
}

function toDetails(input: AgentRunInput, attempt: number): AgentRunDetails {
  const now = Date.now();
  return {
    attempt,
    phase: "tool",
    turns: 2,
    toolCalls: 3,
    tool: { name: "Bash", target: `for ${input.chain}`, sinceMs: now },
    startedAtMs: now,
    lastEventAtMs: now,
    usage: noUsage,
    partialReport: "",
    denials: [],
    journalLines: 0,
    losses: 0,
    turnsAtStart: 0,
    handedBack: false,
    worker: "1@here",
  };
}

function toOutcome(report: string): AgentRunOutcome {
  return {
    status: "completed",
    report,
    turns: 1,
    toolCalls: 1,
    usage: noUsage,
    attempts: 1,
    denials: [],
    model: "script",
  };
}
