import { escapeControls, toOneLine } from "../../core/text.ts";
import type { EventDescription } from "../../worker/replay/describe-event.ts";
import type { Divergence } from "../../worker/replay/explain.ts";
import type { ReplayOutcome } from "../../worker/replay/replay-histories.ts";

const STATUS_WIDTH = 13;
const MAX_NAME_CHARACTERS = 200;
const MAX_STACK_LINES = 8;

const words: Record<ReplayOutcome["status"], string> = {
  replays: "replays",
  diverged: "DIVERGED",
  "code-failed": "CODE FAILED",
  "unknown-type": "UNKNOWN TYPE",
  unreadable: "UNREADABLE",
  "not-found": "NOT FOUND",
};

/** What became of one history, for a person: a line, and for what went wrong the place and its neighbourhood. */
export function toReplayText(outcome: ReplayOutcome, { isOwnBundle }: { isOwnBundle: boolean }): string {
  const { status, text, divergence } = outcome;
  const lines = [`${words[status].padEnd(STATUS_WIDTH)} ${outcome.name}${toFactsText(outcome)}`];
  if (divergence !== undefined) lines.push(...toDivergenceLines(divergence, status));
  else if (text !== "replays") lines.push(...text.split("\n"));
  if (status === "unknown-type" && isOwnBundle) {
    lines.push("name the workflows file that has it with --workflows");
  }
  return lines.map((line, index) => `${index === 0 ? "" : "    "}${escapeControls(line)}`).join("\n");
}

function toFactsText({ name, facts }: ReplayOutcome): string {
  if (facts === undefined) return "";
  const { workflowType, workflowId, runId, events, ended } = facts;
  const id = workflowId === name ? "" : ` ${workflowId}`;
  return ` (${toOneLine(`${workflowType}${id}, run ${runId}`, 2 * MAX_NAME_CHARACTERS)}, ${events} events, ${ended})`;
}

function toDivergenceLines(divergence: Divergence, status: ReplayOutcome["status"]): string[] {
  const { event, workflowTask = [], code, reason, stack, around } = divergence;
  const lines: string[] = [];
  if (event !== undefined) {
    const task =
      workflowTask.length === 0 ? "" : `, in the workflow task of events ${workflowTask.join(", ")}`;
    lines.push(`where:    event ${event.eventId} at ${event.time}${task}`);
    if (status === "diverged") lines.push(`history:  ${toEventText(event)}`);
  }
  if (code !== undefined) lines.push(`the code: ${code}`);
  lines.push(`reason:   ${toOneLine(reason, 1_000)}`);
  if (stack !== undefined) lines.push(...toStackLines(stack));
  if (around.length > 0) lines.push("events:");
  for (const neighbour of around) {
    const mark = neighbour.eventId === event?.eventId ? ">" : " ";
    lines.push(`${mark} ${String(neighbour.eventId).padStart(5)}  ${toEventText(neighbour)}`);
  }
  return lines;
}

function toEventText({ type, name }: EventDescription): string {
  return name === "" ? type : `${type} ${toOneLine(name, MAX_NAME_CHARACTERS)}`;
}

function toStackLines(stack: string): string[] {
  const lines = stack.split("\n").filter((line) => /^\s+at /.test(line));
  return lines.slice(0, MAX_STACK_LINES).map((line) => `  ${line.trim()}`);
}

/** How many there were, and how they ended. */
export function toReplaySummary(outcomes: readonly ReplayOutcome[], gone: number): string {
  const count = (...statuses: ReplayOutcome["status"][]) =>
    outcomes.filter(({ status }) => statuses.includes(status)).length;
  const parts = [
    [count("replays"), "replay"],
    [count("diverged"), "diverged"],
    [count("code-failed"), "met code that fails"],
    [count("unknown-type"), "of a type that the code does not have"],
    [count("unreadable", "not-found"), "could not be read"],
    [gone, "not kept by the server any more"],
  ] as const;
  const said = parts.filter(([number]) => number > 0).map(([number, what]) => `${number} ${what}`);
  const noun = outcomes.length === 1 ? "history" : "histories";
  return `${outcomes.length} ${noun}: ${said.join(", ")}.`;
}
