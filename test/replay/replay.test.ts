// Tier: no server. Recorded histories of every kind of ending, replayed against the workflows at hand.
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import { DeterminismViolationError } from "@temporalio/workflow";
import { bundleWorkflows } from "../../worker/workflow-bundle.ts";

const folder = fileURLToPath(new URL("./histories", import.meta.url));
const names = (await readdir(folder)).filter((name) => name.endsWith(".json"));
Runtime.install({ logger: new DefaultLogger("ERROR") });

interface History {
  events: { eventType: string; workflowExecutionStartedEventAttributes?: { workflowId: string } }[];
}

/** Replay under the workflow's own id: children's ids derive from it. */
async function replay(history: History): Promise<void> {
  const workflowId = history.events[0]?.workflowExecutionStartedEventAttributes?.workflowId;
  await Worker.runReplayHistory({ workflowBundle: await bundleWorkflows() }, history, workflowId);
}

async function load(name: string): Promise<History> {
  return JSON.parse(await readFile(path.join(folder, name), "utf8"));
}

test("there is a history of every kind of ending, of the session and of the delegate", () => {
  const kinds = new Set(names.map((name) => name.replace(/\.(session|delegate)\.json$/, "")));
  for (const kind of [
    "completed",
    "truncated-turn-limit",
    "truncated-output-limit",
    "timed-out-idle",
    "timed-out-ceiling",
    "timed-out-rate-limited",
    "failed-no-report",
    "failed-provider",
    "failed-terminated",
    "stopped",
    "aborted-with-its-turn",
    "leftovers-delivered",
    "continued-as-new",
    "turn-aborted",
    "waited-and-listed",
    "traced",
  ])
    expect(kinds).toContain(kind);
});

test.each(names)(
  "%s replays",
  async (name) => {
    await replay(await load(name));
  },
  30_000,
);

test("a history that the workflows would not have made does not replay", async () => {
  const history = await load("completed.delegate.json");
  const broken = JSON.parse(JSON.stringify(history).replaceAll("runAgent", "runSomething"));
  await expect(replay(broken)).rejects.toThrow(DeterminismViolationError);
}, 30_000);

test.each(names.filter((name) => name.endsWith(".delegate.json")))(
  "%s has at most 20 events and one activity",
  async (name) => {
    const { events } = await load(name);
    expect(events.length).toBeLessThanOrEqual(20);
    expect(events.filter(({ eventType }) => eventType === "EVENT_TYPE_ACTIVITY_TASK_SCHEDULED")).toHaveLength(
      1,
    );
  },
);

test("a trace crosses from the message through the turn to the delegate's own workflow, as plain input", async () => {
  const read = async (name: string, type: string) => {
    const { events } = await load(name);
    const text = JSON.stringify(events.filter(({ eventType }) => eventType === type));
    return [...text.matchAll(/"data":"([^"]+)"/g)].map(([, data = ""]) =>
      Buffer.from(data, "base64").toString("utf8"),
    );
  };
  const trace =
    '"trace":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","tracestate":"a=1"}';
  const inputs = [
    ...(await read("traced.session.json", "EVENT_TYPE_ACTIVITY_TASK_SCHEDULED")),
    ...(await read("traced.delegate.json", "EVENT_TYPE_WORKFLOW_EXECUTION_STARTED")),
  ].filter((input) => input.includes('"runId"'));
  expect(inputs.map((input) => input.includes(trace))).toEqual([true, true]);
});
