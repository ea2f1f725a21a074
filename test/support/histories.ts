import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseHistory } from "../../worker/replay/read-history.ts";
import { type ReplayOutcome, replayHistories } from "../../worker/replay/replay-histories.ts";
import { bundleWorkflows, type WorkflowBundle } from "../../worker/workflow-bundle.ts";

/** A history as its file has it. */
export interface HistoryJson {
  events: EventJson[];
}

export interface EventJson {
  eventId: string;
  eventType: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into whatever attributes an event has
  [key: string]: any;
}

/** The path of a recorded history, such as `completed.session`. */
export function toHistoryPath(name: string): string {
  return fileURLToPath(new URL(`../replay/histories/${name}.json`, import.meta.url));
}

/** A recorded history, to be changed at will. */
export async function loadHistory(name: string): Promise<HistoryJson> {
  return JSON.parse(await readFile(toHistoryPath(name), "utf8"));
}

/** Number the events anew, as if those that were taken out or put in had never been different. */
export function renumber({ events }: HistoryJson): HistoryJson {
  return { events: events.map((event, index) => ({ ...event, eventId: String(index + 1) })) };
}

/** Read and replay one history as a file would be; what can't be read throws. */
export async function replayText(
  content: string | Uint8Array | object,
  workflowBundle?: WorkflowBundle,
): Promise<ReplayOutcome> {
  const text =
    typeof content === "string" || content instanceof Uint8Array ? content : JSON.stringify(content);
  const history = parseHistory(typeof text === "string" ? Buffer.from(text) : text);
  const outcomes = replayHistories([{ name: "one", history }], {
    workflowBundle: workflowBundle ?? (await bundleWorkflows()),
  });
  for await (const outcome of outcomes) return outcome;
  throw new Error("no outcome");
}
