// Tier: no server. Recorded histories of every kind of ending, replayed against the workflows at hand.
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { readHistories } from "../../worker/replay/history-files.ts";
import { type ReplayOutcome, replayHistories } from "../../worker/replay/replay-histories.ts";
import { installReplayRuntime } from "../../worker/replay/replay-runtime.ts";
import { bundleWorkflows } from "../../worker/workflow-bundle.ts";

const folder = fileURLToPath(new URL("./histories", import.meta.url));
const names = (await readdir(folder)).filter((name) => name.endsWith(".json"));

async function load(name: string): Promise<{ events: { eventType: string }[] }> {
  return JSON.parse(await readFile(path.join(folder, name), "utf8"));
}

const outcomes = new Map<string, ReplayOutcome>();
installReplayRuntime();
for await (const outcome of replayHistories(readHistories(folder), {
  workflowBundle: await bundleWorkflows(),
})) {
  outcomes.set(path.basename(outcome.name), outcome);
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

test.each(names)("%s replays", (name) => {
  expect(outcomes.get(name)).toMatchObject({ status: "replays", text: "replays" });
});

test.each(names.filter((name) => name.endsWith(".delegate.json")))(
  "%s has at most 20 events and one activity",
  async (name) => {
    const { events } = await load(name);
    const types = events.map(({ eventType }) => eventType);
    expect(types.length).toBeLessThanOrEqual(20);
    expect(types.filter((eventType) => eventType === "EVENT_TYPE_ACTIVITY_TASK_SCHEDULED")).toHaveLength(1);
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
