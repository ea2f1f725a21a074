import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { WorkflowUpdateFailedError } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { TestWorkflowEnvironment } from "@temporalio/testing";
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import { createDelegation, type Delegation, type Settlement } from "../../core/delegation.ts";
import {
  type PermissionAnswered,
  type PermissionStanding,
  queryNames,
  type SessionView,
  signalNames,
  type TaskStarted,
  type TaskStopAnswer,
  type TaskWaitAnswer,
  updateNames,
  workflowNames,
} from "../../core/messages.ts";
import type { PermissionAnswer, PermissionRequest } from "../../core/permission-questions.ts";
import type { SessionInput, SessionState } from "../../core/session.ts";
import { noUsage } from "../../core/status.ts";
import type { TaskInput, TaskStopInput, TaskWaitInput } from "../../core/task-calls.ts";
import { fakeActivities, type Runs } from "./fake-activities.ts";
import { findTestServerBinary } from "./temporal-binary.ts";

export const sessionInput: SessionInput = {
  workspace: "/workspace",
  model: { kind: "provider", provider: "test", id: "model" },
  permissionMode: "auto",
  canAsk: false,
  leftovers: "abort",
  watchdog: "enforce",
  agentDirectories: [],
  projectAgents: false,
  modelAliases: {},
  limits: { idleSeconds: 300, maxDurationSeconds: 21_600, turnMaxDurationSeconds: 86_400 },
  hasSearchAttributes: false,
};

/** A time-skipping server with our workflows. Time stands still while an activity runs, so a test settles delegates by their own signal. */
export class TimeSkippingServer {
  readonly environment: TestWorkflowEnvironment;
  readonly #bundle: Awaited<ReturnType<typeof bundleWorkflowCode>>;

  private constructor(
    environment: TestWorkflowEnvironment,
    bundle: Awaited<ReturnType<typeof bundleWorkflowCode>>,
  ) {
    this.environment = environment;
    this.#bundle = bundle;
  }

  static async start(): Promise<TimeSkippingServer> {
    Runtime.install({ logger: new DefaultLogger("ERROR") });
    const path = await findTestServerBinary();
    const environment = await TestWorkflowEnvironment.createTimeSkipping({
      server: { executable: { type: "existing-path", path } },
    });
    const workflowsPath = fileURLToPath(new URL("./time-skipping-workflows.ts", import.meta.url));
    const bundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger("ERROR") });
    return new TimeSkippingServer(environment, bundle);
  }

  async stop(): Promise<void> {
    await this.environment.teardown();
  }

  /** Run a test with a session of its own. */
  async withSession(
    runs: Runs,
    work: (session: TestSession) => Promise<void>,
    { input = {}, state }: { input?: Partial<SessionInput>; state?: SessionState } = {},
  ): Promise<void> {
    const taskQueue = `queue-${randomUUID()}`;
    const worker = await Worker.create({
      connection: this.environment.nativeConnection,
      activities: fakeActivities(runs),
      taskQueue,
      workflowBundle: this.#bundle,
    });
    const running = worker.run();
    try {
      const handle = await this.environment.client.workflow.start(workflowNames.session, {
        workflowId: `session-${randomUUID()}`,
        taskQueue,
        args: state === undefined ? [{ ...sessionInput, ...input }] : [{ ...sessionInput, ...input }, state],
      });
      await work(new TestSession(this.environment, handle.workflowId));
      await handle.terminate("the test is over").catch(() => undefined);
    } finally {
      worker.shutdown();
      await running;
    }
  }
}

/** One session under test, worked with through its wire contract alone. */
export class TestSession {
  readonly environment: TestWorkflowEnvironment;
  readonly id: string;

  constructor(environment: TestWorkflowEnvironment, id: string) {
    this.environment = environment;
    this.id = id;
  }

  get handle() {
    return this.environment.client.workflow.getHandle(this.id);
  }

  child(delegationId: string) {
    return this.environment.client.workflow.getHandle(`${this.id}/${delegationId}`);
  }

  async task(input: Partial<TaskInput> = {}, callKey?: string, turn?: number): Promise<TaskStarted> {
    const call = {
      input: { agent: "explorer", task: "look", ...input },
      ...(callKey === undefined ? {} : { callKey }),
      ...(turn === undefined ? {} : { turn }),
    };
    return await this.#update(updateNames.task, call);
  }

  async wait(input: TaskWaitInput | Record<string, unknown> = {}): Promise<TaskWaitAnswer> {
    return await this.#update(updateNames.taskWait, { input });
  }

  async observe(input: TaskWaitInput | Record<string, unknown> = {}): Promise<TaskWaitAnswer> {
    return await this.#update(updateNames.taskWait, { input, isObserver: true });
  }

  async stop(input: TaskStopInput | Record<string, unknown> = {}): Promise<TaskStopAnswer> {
    return await this.#update(updateNames.taskStop, { input });
  }

  async send(prompt: string, key?: string): Promise<{ turn: number }> {
    return await this.#update(updateNames.send, { prompt, ...(key === undefined ? {} : { key }) });
  }

  async ask(request: Partial<PermissionRequest> & { key: string }): Promise<void> {
    const asked: PermissionRequest = {
      chain: "task-1",
      agent: "explorer",
      tool: "Bash",
      target: "npm test",
      arguments: "{}",
      scope: "inherit",
      reason: "mode ask",
      ...request,
    };
    await this.handle.signal(signalNames.permissionAsked, asked);
  }

  async answer(answer: Partial<PermissionAnswer>): Promise<PermissionAnswered> {
    return await this.#update(updateNames.answerPermission, { verdict: "allow", by: "tester", ...answer });
  }

  async setMode(mode: string): Promise<unknown> {
    return await this.#update(updateNames.setPermissionMode, { mode });
  }

  async standing(key: string): Promise<PermissionStanding> {
    return await this.handle.query(queryNames.permission, key);
  }

  async view(): Promise<SessionView> {
    return await this.handle.query(queryNames.session);
  }

  async record(id: string): Promise<Delegation | undefined> {
    return await this.handle.query(queryNames.report, id);
  }

  /** What a delegate tells its session when it ends. */
  async settle(delegationId: string, changes: Partial<Settlement> = {}): Promise<void> {
    await this.handle.signal(signalNames.delegateSettled, settlement(delegationId, changes));
  }

  async #update<Answer>(name: string, call: object): Promise<Answer> {
    return await this.handle.executeUpdate<Answer, [object]>(name, { args: [call] });
  }

  /** Wait until so many waits are under way: each has set a timer. */
  async untilWaits(count: number): Promise<void> {
    for (let tries = 0; tries < 400; tries++) {
      const { events } = await this.handle.fetchHistory();
      const timers = events?.filter((event) => event.timerStartedEventAttributes).length ?? 0;
      if (timers >= count) return;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`there were never ${count} waits`);
  }

  /** Wait, in real time, until the session is as the test wants it. */
  async until(isReady: (view: SessionView) => boolean): Promise<SessionView> {
    for (let tries = 0; tries < 200; tries++) {
      const view = await this.view();
      if (isReady(view)) return view;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`the session did not become ready: ${JSON.stringify(await this.view())}`);
  }
}

export function settlement(delegationId: string, changes: Partial<Settlement> = {}): Settlement {
  return {
    delegationId,
    status: "completed",
    report: `report of ${delegationId}`,
    turns: 2,
    toolCalls: 3,
    usage: noUsage,
    attempts: 1,
    denials: [],
    model: "test/model",
    ...changes,
  };
}

/** A settled record, for a session that begins with some. */
export function settledRecord(number: number, changes: Partial<Delegation> = {}): Delegation {
  const created = createDelegation({
    number,
    agent: "explorer",
    description: "",
    callKey: undefined,
    resumedFrom: undefined,
    definitionFingerprint: "",
    model: "test/model",
    tools: ["Read"],
    nowMs: number,
  });
  return {
    ...created,
    status: "completed",
    settledAtMs: number,
    report: `report ${number}`,
    isHandedOver: true,
    ...changes,
  };
}

/** The code and the text of a refused call. @throws if it was not refused. */
export async function refusalOf(call: Promise<unknown>): Promise<{ code: string; text: string }> {
  try {
    await call;
  } catch (error) {
    const cause = error instanceof WorkflowUpdateFailedError ? error.cause : error;
    if (cause instanceof ApplicationFailure) return { code: cause.type ?? "", text: cause.message };
    throw error;
  }
  throw new Error("the call was accepted");
}
