import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { TestWorkflowEnvironment } from "@temporalio/testing";
import { DefaultLogger, Runtime } from "@temporalio/worker";
import { SessionClient, type SessionHandle, type StartOptions } from "../../client/session-client.ts";
import type { Delegation } from "../../core/delegation.ts";
import { SEARCH_ATTRIBUTES } from "../../core/search-attributes.ts";
import type { SessionInput } from "../../core/session.ts";
import { type StateFolder, toStateFolder } from "../../core/state-folder.ts";
import { chooseFreePorts } from "../../worker/server/ports.ts";
import { type RunningWorker, startWorker } from "../../worker/worker.ts";
import { findTemporalBinary } from "./temporal-binary.ts";

export interface ServerOptions {
  /** Whether the server pushes cancellations to workers, as our own dev server does. Default yes. */
  hasPush?: boolean;
  hasWeb?: boolean;
  /** Whether ours are registered. */
  hasSearchAttributes?: boolean;
}

/** A real dev server, a state folder and a workspace of its own; real workers, tools and processes; only a model's words are scripted. */
export class RealServer {
  readonly environment: TestWorkflowEnvironment;
  readonly folder: string;
  readonly stateFolder: StateFolder;
  readonly sessions: SessionClient;
  /** Where Temporal Web is, if it was asked for. */
  readonly web: string;

  private constructor(environment: TestWorkflowEnvironment, folder: string, uiPort: number | undefined) {
    this.environment = environment;
    this.folder = folder;
    this.web = uiPort === undefined ? "" : `http://127.0.0.1:${uiPort}`;
    this.stateFolder = toStateFolder({ XDG_STATE_HOME: path.join(folder, "state") }, undefined);
    this.sessions = new SessionClient(environment.client);
  }

  static async start({
    hasPush = true,
    hasWeb = false,
    hasSearchAttributes = false,
  }: ServerOptions = {}): Promise<RealServer> {
    installRuntime();
    const executable = { type: "existing-path" as const, path: await findTemporalBinary() };
    const flags = ["frontend.WorkerCommandsEnabled=true", "system.enableCancelActivityWorkerCommand=true"];
    const extraArgs = hasPush ? flags.flatMap((flag) => ["--dynamic-config-value", flag]) : [];
    const uiPort = hasWeb ? (await chooseFreePorts([])).uiPort : undefined;
    const searchAttributes = hasSearchAttributes ? [...SEARCH_ATTRIBUTES] : [];
    const environment = await TestWorkflowEnvironment.createLocal({
      server: { executable, extraArgs, searchAttributes, ...(uiPort === undefined ? {} : { uiPort }) },
    });
    const folder = await mkdtemp(path.join(tmpdir(), "subagents-e2e-"));
    await mkdir(path.join(folder, "workspace"));
    return new RealServer(environment, folder, uiPort);
  }

  async stop(): Promise<void> {
    await this.environment.teardown();
    await rm(this.folder, { recursive: true, force: true });
  }

  get workspace(): string {
    return path.join(this.folder, "workspace");
  }

  get address(): string {
    return this.environment.address;
  }

  async startWorker(taskQueue: string): Promise<RunningWorker> {
    return await startWorker({
      connectionOptions: { address: this.address },
      namespace: "default",
      taskQueue,
      stateFolder: this.stateFolder,
      environment: { ...process.env, HOME: this.folder },
      log: () => undefined,
    });
  }

  async writeScript(script: object): Promise<string> {
    const file = path.join(this.folder, `${randomUUID()}.json`);
    await writeFile(file, JSON.stringify(script));
    return file;
  }

  async startSession(
    taskQueue: string,
    script: object,
    input: Partial<SessionInput> = {},
    options: StartOptions = {},
  ): Promise<SessionHandle> {
    const file = await this.writeScript(script);
    return await this.sessions.start(
      {
        workspace: this.workspace,
        model: { kind: "script", file },
        permissionMode: "auto",
        canAsk: false,
        leftovers: "abort",
        watchdog: "enforce",
        agentDirectories: [],
        projectAgents: false,
        modelAliases: {},
        limits: { idleSeconds: 300, maxDurationSeconds: 21_600, turnMaxDurationSeconds: 86_400 },
        hasSearchAttributes: false,
        ...input,
      },
      { taskQueue, ...options },
    );
  }
}

let isRuntimeInstalled = false;

function installRuntime(): void {
  if (!isRuntimeInstalled) Runtime.install({ logger: new DefaultLogger("ERROR") });
  isRuntimeInstalled = true;
}

/** Wait for a condition, in real time; the error shows what was seen last. */
export async function until<Seen>(
  look: () => Promise<Seen>,
  isRight: (seen: Seen) => boolean,
  patienceMs = 30_000,
): Promise<Seen> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const seen = await look();
    if (isRight(seen)) return seen;
    if (Date.now() > deadline)
      throw new Error(`not within ${patienceMs} ms; seen last: ${JSON.stringify(seen)?.slice(0, 2000)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Start one delegate by a host's own Task, outside of any turn, and wait for its settlement. */
export async function settleOne(
  session: SessionHandle,
  agent = "explorer",
  task = "look",
): Promise<Delegation> {
  const { delegationId } = await session.task({ input: { agent, task } }, randomUUID());
  return await settled(session, delegationId);
}

export async function settled(
  session: SessionHandle,
  delegationId: string,
  patienceMs = 60_000,
): Promise<Delegation> {
  const found = await until(
    async () => await session.report(delegationId),
    (record) => record !== undefined && record.status !== "running",
    patienceMs,
  );
  if (found === undefined) throw new Error(`${delegationId} is gone`);
  return found;
}
