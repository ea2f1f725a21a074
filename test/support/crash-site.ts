import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { JournalEntry } from "../../activities/journal/journal-entry.ts";
import { findProcesses } from "../../activities/processes/end-processes.ts";
import type { SessionHandle } from "../../client/session-client.ts";
import type { AgentRunDetails } from "../../core/agent-run.ts";
import type { SessionInput } from "../../core/session.ts";
import { toSessionFolder } from "../../core/state-folder.ts";
import { type Handler, type OpenAiServer, startOpenAiServer } from "./openai-server.ts";
import { RealServer, until } from "./real-session.ts";
import { type WorkerPlace, WorkerProcess } from "./worker-process.ts";

/** Answers of a model: by a word of the prompt or task, one a turn. */
export type Parts = Record<string, readonly Handler[]>;

/** A dev server, a strict provider over real HTTP, and workers in processes of their own that can be lost. */
export class CrashSite {
  readonly server: RealServer;
  readonly model: OpenAiServer;
  readonly #taskQueue: string;
  readonly #workers: WorkerProcess[] = [];
  #parts: Parts = {};

  private constructor(server: RealServer, model: OpenAiServer, taskQueue: string) {
    this.server = server;
    this.model = model;
    this.#taskQueue = taskQueue;
  }

  static async open(taskQueue: string): Promise<CrashSite> {
    const server = await RealServer.start();
    let site: CrashSite | undefined;
    const model = await startOpenAiServer((exchange) => site?.answer(exchange));
    site = new CrashSite(server, model, taskQueue);
    const agents = path.join(server.folder, "agents");
    await mkdir(agents);
    await writeFile(
      path.join(agents, "hand.md"),
      "---\nname: hand\ndescription: does things\ntools: '*'\n---\nWork.",
    );
    return site;
  }

  async close(): Promise<void> {
    for (const worker of this.#workers) {
      if (worker.isRunning) worker.thaw();
      await worker.end();
    }
    await this.model.close();
    await this.server.stop();
  }

  /** @param place another server's address or another state folder than the site's own */
  async startWorker(place: Partial<WorkerPlace> = {}): Promise<WorkerProcess> {
    const worker = await WorkerProcess.start({
      address: this.server.address,
      stateHome: path.join(this.server.folder, "state"),
      home: this.server.folder,
      taskQueue: this.#taskQueue,
      ...place,
    });
    this.#workers.push(worker);
    return worker;
  }

  async startSession(parts: Parts, limits: Partial<SessionInput["limits"]> = {}): Promise<SessionHandle> {
    this.#parts = { ...this.#parts, ...parts };
    return await this.server.startSession(
      this.#taskQueue,
      {},
      {
        model: { kind: "provider", provider: "local", id: "strict", baseUrl: this.model.baseUrl },
        agentDirectories: [path.join(this.server.folder, "agents")],
        limits: { idleSeconds: 300, maxDurationSeconds: 21_600, turnMaxDurationSeconds: 86_400, ...limits },
      },
    );
  }

  /** Answer as the part says whose word is in the conversation's first message; its turn is told by the answers so far. */
  answer(exchange: Parameters<Handler>[0]): void | Promise<void> {
    const { messages } = exchange.request;
    const prompt = JSON.stringify(messages.find(({ role }) => role === "user")?.content);
    const steps = Object.entries(this.#parts).find(([word]) => prompt.includes(word))?.[1];
    const step = steps?.[messages.filter(({ role }) => role === "assistant").length];
    if (step === undefined) throw new Error(`no answer is left for ${prompt}`);
    return step(exchange);
  }

  /** Start a delegate by a host's own Task. */
  async start(session: SessionHandle, task: string): Promise<string> {
    return (await session.task({ input: { agent: "hand", task } }, randomUUID())).delegationId;
  }

  async details(session: SessionHandle, delegationId: string): Promise<AgentRunDetails | undefined> {
    const live = (await session.live([delegationId])).get(delegationId);
    return live !== undefined && "details" in live ? live.details : undefined;
  }

  /** Wait until the live view of a delegate shows what is expected. */
  async untilDetails(
    session: SessionHandle,
    delegationId: string,
    isRight: (details: AgentRunDetails) => boolean,
    patienceMs = 30_000,
  ): Promise<AgentRunDetails> {
    const found = await until(
      () => this.details(session, delegationId),
      (details) => details !== undefined && isRight(details),
      patienceMs,
    );
    if (found === undefined) throw new Error("no details");
    return found;
  }

  /**
   * When the first event of a resumed run had come at the latest, in milliseconds after a worker's start: the run's first request reaches the provider
   * behind its first events, and at once, while the server's view may be as old as the throttle of heartbeats.
   */
  async firstEventAfter(worker: WorkerProcess, word: string): Promise<number> {
    const isLater = (request: { at: number }) => request.at > worker.spawnedAtMs;
    const [first] = await until(
      async () => this.#requestsOf(word).filter(isLater),
      (requests) => requests.length > 0,
    );
    return (first?.at ?? Number.NaN) - worker.spawnedAtMs;
  }

  /** Lines of all generations of a chain's journal that are on disk, the latest generation last. */
  async journals(session: SessionHandle, chain: string): Promise<{ file: string; text: string }[]> {
    const { journals } = toSessionFolder(this.server.stateFolder, session.sessionId);
    const names = (await readdir(journals).catch(() => [])).filter((name) => name.startsWith(`${chain}.`));
    const toNumber = (name: string) => Number(name.split(".")[1]);
    const sorted = names
      .filter((name) => /\.\d+\.jsonl$/.test(name))
      .toSorted((a, b) => toNumber(a) - toNumber(b));
    return await Promise.all(
      sorted.map(async (name) => {
        const file = path.join(journals, name);
        return { file, text: await readFile(file, "utf8").catch(() => "") };
      }),
    );
  }

  /** Entries of the journal that counts. */
  async entries(session: SessionHandle, chain: string): Promise<JournalEntry[]> {
    const text = (await this.journals(session, chain)).at(-1)?.text ?? "";
    return text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as JournalEntry);
  }

  /** Run records of attempts under way, or over only a moment ago. */
  async records(): Promise<string[]> {
    return await readdir(this.server.stateFolder.runs).catch(() => []);
  }

  /** History events of a session or of a delegate. */
  async history(workflowId: string) {
    const handle = this.server.environment.client.workflow.getHandle(workflowId);
    return (await handle.fetchHistory()).events ?? [];
  }

  async read(name: string): Promise<string> {
    return await readFile(path.join(this.server.workspace, name), "utf8").catch(() => "");
  }

  /** Processes that tools of a session have started and that still run. */
  async processesOf(session: SessionHandle): Promise<number[]> {
    const found = await findProcesses(({ run }) => run?.includes(session.sessionId) ?? false);
    return found.map(({ pid }) => pid);
  }

  /** What the strict provider has refused. */
  get violations(): string[] {
    return this.model.requests.flatMap(({ violation }) => violation ?? []);
  }

  /** Texts of the tool results in the latest request whose first message has this word. */
  toolResults(word: string): string[] {
    const bodies = this.model.requests.map(
      ({ body }) => body as Parameters<Handler>[0]["request"] | undefined,
    );
    const latest = bodies.findLast((body) =>
      JSON.stringify(body?.messages.find(({ role }) => role === "user")?.content)?.includes(word),
    );
    return (latest?.messages ?? []).flatMap((message) =>
      message.role === "tool"
        ? [typeof message.content === "string" ? message.content : JSON.stringify(message.content)]
        : [],
    );
  }

  requestsOf(word: string): number {
    return this.#requestsOf(word).length;
  }

  #requestsOf(word: string) {
    return this.model.requests.filter(({ body }) =>
      JSON.stringify(
        (body as Parameters<Handler>[0]["request"] | undefined)?.messages.find(({ role }) => role === "user"),
      )?.includes(word),
    );
  }
}
