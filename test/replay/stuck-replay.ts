import { parseHistory } from "../../worker/replay/read-history.ts";
import { installReplayRuntime } from "../../worker/replay/replay-runtime.ts";
import { ReplayWorker } from "../../worker/replay/replay-worker.ts";
import { bundleWorkflows } from "../../worker/workflow-bundle.ts";
import { loadHistory } from "../support/histories.ts";

/** A process of its own, since what is stuck in the SDK ends with its process alone: a replay that never ends, and one after it. */
installReplayRuntime();
const { events } = await loadHistory("completed.delegate");
const toHistory = (count: number) =>
  parseHistory(Buffer.from(JSON.stringify({ events: events.slice(0, count) })));
const worker = new ReplayWorker({ workflowBundle: await bundleWorkflows() });
// Without a workflow task the SDK waits for one for ever. With so little patience its worker has not even begun to read.
const first = await worker.replay(toHistory(1), "one", 10);
const second = await worker.replay(toHistory(1), "one", 2_000);
const third = await worker.replay(toHistory(events.length), "one");
await worker.close();
process.stdout.write([first, second, third].map(({ kind }) => kind).join(), () => process.exit(0));
