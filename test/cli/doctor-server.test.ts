// `subagents doctor` and real servers: one that was started plainly, and our own. What it says is seen, and nothing is changed.
import { hostname } from "node:os";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { Worker } from "@temporalio/worker";
import { toDelegateTaskQueue } from "../../core/messages.ts";
import { bundleWorkflows } from "../../worker/workflow-bundle.ts";
import { RealServer, until } from "../support/real-session.ts";
import { createMachine, type Machine } from "./cli-process.ts";
import { findCheck } from "./doctor-check.ts";

let machine: Machine;
beforeEach(async () => {
  machine = await createMachine();
});

const doctor = async (...words: string[]) => await machine.run("doctor", "--json", ...words);

describe("a server that was started plainly", () => {
  let server: RealServer;
  beforeAll(async () => {
    server = await RealServer.start({ hasPush: false });
  });
  afterAll(async () => {
    await server.stop();
  });
  const ask = async (...words: string[]) => await doctor("--address", server.address, ...words);

  test("what it lacks is a warning with what to do, and stays as it is", async () => {
    const found = await ask();
    expect(found.code).toBe(0);
    expect(findCheck(found, "server")).toMatchObject({
      level: "ok",
      text: expect.stringMatching(/\(--address\) answers within \d+ ms/),
    });
    expect(findCheck(found, "server version")).toMatchObject({ level: "ok", text: "Temporal Server 1.32.0" });
    expect(findCheck(found, "namespace")).toMatchObject({
      level: "ok",
      text: expect.stringMatching(/^default: .* \d+ days$/),
    });
    expect(findCheck(found, "push flags")).toMatchObject({
      level: "warning",
      text: expect.stringContaining("frontend.WorkerCommandsEnabled is not set"),
      advice: expect.stringContaining("system.enableCancelActivityWorkerCommand"),
    });
    for (const _ of ["once", "and again"]) {
      expect(findCheck(await ask(), "search attributes")).toMatchObject({
        level: "warning",
        text: "SubagentsAgent and SubagentsStatus are not registered",
        advice: expect.stringContaining(
          `temporal operator search-attribute create --name SubagentsAgent --type Keyword --namespace default --address ${server.address}`,
        ),
      });
    }
  });

  test("a namespace that is not there is a problem", async () => {
    const found = await ask("--namespace", "nowhere");
    expect(found.code).toBe(1);
    expect(findCheck(found, "namespace")).toMatchObject({
      level: "problem",
      advice: expect.stringContaining("--namespace nowhere"),
    });
  });

  test("a namespace's name that can't be sent is at fault, not the server", async () => {
    const found = await ask("--namespace", "Odd NS/Ünï");
    expect(found.code).toBe(1);
    expect(findCheck(found, "server")).toMatchObject({ level: "ok" });
    expect(findCheck(found, "namespace")).toMatchObject({
      level: "problem",
      text: expect.stringContaining(`the name of the namespace "Odd NS/Ünï" can't be sent`),
    });
    const listed = await machine.run("sessions", "--address", server.address, "--namespace", "Ünï");
    expect(listed).toMatchObject({ code: 2, stderr: expect.stringContaining("the name of the namespace") });
  });

  test("an attribute of another type is a warning that names the type, and sessions work without", async () => {
    const { workflowService, operatorService } = server.environment.connection;
    const namespace = "other-types";
    await workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
    });
    const add = async () =>
      await operatorService.addSearchAttributes({
        namespace,
        searchAttributes: { SubagentsStatus: 3, SubagentsAgent: 2 },
      });
    // A namespace is known to all of a server's parts a moment after it was made.
    await until(
      async () =>
        await add().then(
          () => "",
          (error) => String(error),
        ),
      (error) => error === "",
    );
    const found = await ask("--namespace", namespace);
    expect(found.code).toBe(0);
    const reach = `--namespace ${namespace} --address ${server.address}`;
    expect(found.events.filter(({ check }) => check === "search attributes")).toMatchObject([
      {
        level: "warning",
        text: expect.stringContaining("SubagentsStatus is registered as Int"),
        advice: expect.stringMatching(
          `search-attribute remove --name SubagentsStatus --yes ${reach}; \\S+ operator search-attribute create --name SubagentsStatus --type Keyword ${reach}$`,
        ),
      },
    ]);
    const ran = await machine.run(
      "run",
      "--json",
      "--example",
      "--address",
      server.address,
      "--namespace",
      namespace,
    );
    expect(ran.code).toBe(0);
  });

  test("a queue is served when both sessions and delegates are", async () => {
    expect(findCheck(await ask(), "workers")).toMatchObject({
      level: "ok",
      text: expect.stringContaining("nobody serves subagents"),
    });
    expect(findCheck(await ask("--task-queue", "doctored"), "workers")).toMatchObject({ level: "problem" });
    expect(findCheck(await ask("--task-queue", "a b"), "workers")?.advice).toBe(
      `start one: subagents worker --task-queue 'a b' --address ${server.address}`,
    );
    const worker = await server.startWorker("doctored");
    const found = await ask("--task-queue", "doctored");
    await worker.stop();
    expect(findCheck(found, "workers")).toMatchObject({
      level: "ok",
      text: expect.stringMatching(/^doctored and doctored-delegates are served by .*\d+@/),
    });
  });

  test("a worker that was killed serves nobody, though the server lists it for minutes", async () => {
    const words = ["worker", "--json", "--task-queue", "killed", "--address", server.address];
    const killed = machine.start(...words);
    const { pid } = killed.child;
    const workers = async () => findCheck(await ask("--task-queue", "killed"), "workers");
    const served = await until(workers, (seen) => seen?.level === "ok", 60_000);
    expect(served?.text).toBe(`killed and killed-delegates are served by ${pid}@${hostname()}`);
    killed.child.kill("SIGKILL");
    await killed.result;
    const gone = `nobody serves killed; ${pid}@${hostname()} is gone, the server still lists it`;
    expect(await workers()).toMatchObject({
      level: "problem",
      text: gone,
      advice: expect.stringContaining("subagents worker --task-queue killed"),
    });
    const next = machine.start(...words);
    const both = await until(workers, (seen) => seen?.level === "ok", 60_000);
    expect(both?.text).toMatch(new RegExp(`served by ${next.child.pid}@\\S+; ${pid}@\\S+ is gone`));
    next.child.kill("SIGINT");
    await next.result;
  });

  test.each([
    ["sessions", "halved-1", "nobody serves halved-1-delegates: delegates stay queued"],
    ["delegates", "halved-2", "nobody serves halved-2: sessions stand still"],
  ])("a worker for %s alone is a problem", async (half, taskQueue, text) => {
    const activities = { runAgent: async () => undefined };
    const { nativeConnection: connection } = server.environment;
    const worker = await Worker.create(
      half === "sessions"
        ? { connection, taskQueue, activities, workflowBundle: await bundleWorkflows() }
        : { connection, taskQueue: toDelegateTaskQueue(taskQueue), activities },
    );
    const found = await worker.runUntil(
      until(
        async () => await ask("--task-queue", taskQueue),
        (seen) => findCheck(seen, "workers")?.text !== `nobody serves ${taskQueue}`,
      ),
    );
    expect(findCheck(found, "workers")).toMatchObject({
      level: "problem",
      text: expect.stringContaining(text),
    });
  });
});

test("our own dev server is known as such, with both flags, and goes on", async () => {
  const dev = await machine.startReady("dev");
  const ended = dev.result;
  const found = await doctor();
  dev.child.kill("SIGINT");
  expect(findCheck(found, "server")?.text).toContain("the dev server of this state folder, which runs");
  expect(findCheck(found, "push flags")).toMatchObject({
    level: "ok",
    text: expect.stringContaining("both are set"),
  });
  expect(findCheck(found, "search attributes")).toMatchObject({ level: "ok" });
  expect(findCheck(found, "namespace")?.text).toContain("30 days");
  expect((await ended).code).toBe(0);
});
