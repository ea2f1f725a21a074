import { randomUUID } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import protoUtils from "@temporalio/common/lib/proto-utils.js";
import type { SessionHandle } from "../../client/session-client.ts";
import type { SessionInput } from "../../core/session.ts";
import { RealServer, settled, settleOne, until } from "../support/real-session.ts";

/**
 * Record the histories of one session and its delegates for every kind of ending, on a real server: `npm run record-histories`.
 *
 * They are committed and replayed in CI. A change of workflow logic that breaks one of them needs `patched()`; record anew only for endings that are new.
 */
const folder = fileURLToPath(new URL("./histories", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const queue = "record";

type Story = {
  steps: object[];
  main?: object[];
  input?: Partial<SessionInput>;
  agent?: string;
  act?: (session: SessionHandle, server: RealServer) => Promise<void>;
};

const limits = (changes: Partial<SessionInput["limits"]>) => ({
  limits: { idleSeconds: 300, maxDurationSeconds: 21_600, turnMaxDurationSeconds: 86_400, ...changes },
});
const bash = (command: string) => ({ tool: "Bash", input: { command } });
const report = [{ text: "the report" }];
const long = [{ text: "seen so far", calls: [bash("sleep 60")] }];

async function startLong(session: SessionHandle): Promise<string> {
  const { delegationId } = await session.task({ input: { agent: "test-runner", task: "go" } }, randomUUID());
  await until(
    async () => (await session.live([delegationId])).get(delegationId),
    (live) => live?.kind === "running" && live.details?.phase === "tool",
  );
  return delegationId;
}

async function holdTurn(session: SessionHandle): Promise<void> {
  const { turn } = await session.send("go");
  await session.waitForTurn(turn);
}

const stories: Record<string, Story> = {
  completed: { steps: report },
  "truncated-turn-limit": {
    steps: [
      { calls: [bash("true")], repeat: true },
      { text: "what I have", closing: true },
    ],
    agent: "short",
  },
  "truncated-output-limit": { steps: [{ text: "half of", stop: "length" }] },
  "timed-out-idle": {
    steps: [{ text: "Half a sentence", silence: true }],
    input: limits({ idleSeconds: 2 }),
  },
  "timed-out-ceiling": { steps: long, agent: "test-runner", input: limits({ maxDurationSeconds: 3 }) },
  "timed-out-rate-limited": { steps: [{ error: { status: 429, message: "later", retryAfterSeconds: 900 } }] },
  "failed-no-report": { steps: [{ text: "" }] },
  "failed-provider": { steps: [{ error: { status: 401, message: "bad key" } }] },
  stopped: {
    steps: long,
    act: async (session) =>
      void (await session.taskStop({ input: { delegationIds: [await startLong(session)] } }, randomUUID())),
  },
  "failed-terminated": {
    steps: long,
    act: async (session, server) => {
      const id = await startLong(session);
      await server.environment.client.workflow.getHandle(`${session.sessionId}/${id}`).terminate();
      await settled(session, id);
    },
  },
  "aborted-with-its-turn": {
    steps: long,
    main: [
      { calls: [{ tool: "Task", input: { agent: "test-runner", task: "go" } }] },
      { calls: [bash("sleep 2")] },
      { text: "I leave." },
    ],
    act: holdTurn,
  },
  "leftovers-delivered": {
    steps: [{ calls: [bash("sleep 2")] }, ...report],
    main: [
      { calls: [{ tool: "Task", input: { agent: "test-runner", task: "go" } }] },
      { text: "I wait." },
      { text: "I have it." },
    ],
    input: { leftovers: "deliver" },
    act: holdTurn,
  },
  "waited-and-listed": {
    steps: [{ calls: [bash("sleep 1")] }, ...report],
    main: [
      { calls: [{ tool: "Task", input: { agent: "test-runner", task: "go" } }] },
      {
        calls: [
          { tool: "TaskWait", input: { timeoutSeconds: 1 } },
          { tool: "TaskList", input: {} },
          { tool: "TaskWait", input: {} },
        ],
      },
      { text: "I have it." },
    ],
    act: holdTurn,
  },
  traced: {
    steps: report,
    main: [
      { calls: [{ tool: "Task", input: { agent: "explorer", task: "go" } }] },
      { calls: [{ tool: "TaskWait", input: {} }] },
      { text: "I have it." },
    ],
    act: async (session) => {
      const trace = {
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        tracestate: "a=1",
      };
      const { turn } = await session.send("go", undefined, trace);
      await session.waitForTurn(turn);
    },
  },
  "continued-as-new": {
    steps: report,
    input: { continueAsNewAfterEvents: 20 },
    act: async (session) => {
      await settleOne(session);
      await until(
        async () => await session.view(),
        () => true,
      );
      await settleOne(session);
    },
  },
  "turn-aborted": {
    steps: long,
    main: [{ calls: [{ tool: "Task", input: { agent: "test-runner", task: "go" } }, bash("sleep 60")] }],
    act: async (session) => {
      await session.send("go");
      await until(
        async () => (await session.view()).delegations.length,
        (count) => count === 1,
      );
      await session.abortTurn();
    },
  },
};

async function record(name: string, story: Story, server: RealServer): Promise<void> {
  const agents = Object.fromEntries(
    ["explorer", "test-runner", "short"].map((agent) => [agent, story.steps]),
  );
  const session = await server.startSession(
    queue,
    { main: story.main ?? [{ text: "done" }], agents },
    { agentDirectories: [path.join(server.folder, "agents")], ...story.input },
  );
  if (story.act === undefined) await settleOne(session, story.agent);
  else await story.act(session, server);
  await session.close();
  const { client } = server.environment;
  await client.workflow.getHandle(session.sessionId).result();
  await save(server, session.sessionId, `${name}.session`);
  await save(server, `${session.sessionId}/task-1`, `${name}.delegate`);
  console.log(`recorded ${name}`);
}

async function save(server: RealServer, workflowId: string, name: string): Promise<void> {
  const found = await server.environment.client.workflow
    .getHandle(workflowId)
    .fetchHistory()
    .catch(() => undefined);
  if (found === undefined) return;
  const text = JSON.stringify(
    JSON.parse(protoUtils.historyToJSON(found)),
    (key, value) => neutralize(key, value, server),
    1,
  );
  await writeFile(path.join(folder, `${name}.json`), `${text}\n`);
}

/** Histories are evidence of what the code does, not of where it ran. */
function neutralize(key: string, value: unknown, server: RealServer): unknown {
  if (key === "identity" || key === "workerIdentity") return "recorder";
  if (key !== "data" || typeof value !== "string") return value;
  const text = Buffer.from(value, "base64").toString("utf8");
  const neutral = text
    .replaceAll(root, "/project")
    .replaceAll(server.folder, "/recorded")
    .replace(/"worker":"[^"]*"/g, '"worker":"1@host"');
  return Buffer.from(neutral).toString("base64");
}

const only = process.argv.slice(2);
const server = await RealServer.start();
if (only.length === 0) await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
await mkdir(path.join(server.folder, "agents"));
await writeFile(
  path.join(server.folder, "agents", "short.md"),
  "---\nname: short\ndescription: two turns\ntools: Bash\nmaxTurns: 2\n---\nWork.",
);
const worker = await server.startWorker(queue);
for (const [name, story] of Object.entries(stories))
  if (only.length === 0 || only.includes(name)) await record(name, story, server);
await worker.stop();
await server.stop();
