import { describeActivity, type LiveState } from "./activity-text.ts";
import { type Delegation, toElapsedSeconds } from "./delegation.ts";
import { describeDenials, describeEnding } from "./ending-text.ts";
import { MAX_TASK_WAIT_CHARACTERS } from "./limits.ts";
import type { TaskWaitAnswer } from "./messages.ts";
import { shareEqually } from "./share.ts";
import { bound, cutAt, toCountText } from "./text.ts";

/** Bound the reports of a wait's targets so that all of them together fit one answer. */
export function boundReports(targets: readonly Delegation[]): Delegation[] {
  const shares = shareEqually(
    targets.map((target) => target.report.length),
    MAX_TASK_WAIT_CHARACTERS,
  );
  // Beside the reports an answer has room for so much of the rest.
  const isMany = targets.length > 10;
  return targets.map((target, index) => ({
    ...target,
    report: cutAt(target.report, shares[index] ?? 0),
    denials: target.denials.slice(0, isMany ? 1 : 10),
    ...(target.error === undefined
      ? {}
      : { error: { ...target.error, message: cutAt(target.error.message, isMany ? 300 : 2000) } }),
  }));
}

interface Frame {
  head: string;
  tail: string;
}

const MIN_FRAME_CHARACTERS = 250;

/**
 * Write the answer of a TaskWait for the model: one block a target in the order asked.
 *
 * At most 50,000 characters, marks included. A wait that ran out of time says so and that it is no failure.
 */
export function toTaskWaitText(answer: TaskWaitAnswer, live: ReadonlyMap<string, LiveState>): string {
  const opening = toOpening(answer);
  // What is said around the reports leaves them most of the room, however many they are.
  const frameLimit = Math.max(
    MIN_FRAME_CHARACTERS,
    Math.floor(MAX_TASK_WAIT_CHARACTERS / 5 / Math.max(1, answer.targets.length)),
  );
  const frames = answer.targets.map((target) =>
    boundFrame(toFrame(target, live.get(target.id), answer.nowMs), frameLimit),
  );
  const fixed =
    [opening, ...frames.map((frame) => `${frame.head}\n\n${frame.tail}`)].join("\n\n").length +
    8 * frames.length;
  const needs = answer.targets.map((target, index) =>
    target.status === "running" ? 0 : Math.max(target.report.length, answer.reportLengths[index] ?? 0),
  );
  const shares = shareEqually(needs, MAX_TASK_WAIT_CHARACTERS - fixed);
  const blocks = frames.map((frame, index) => {
    const target = answer.targets[index];
    const report =
      target === undefined || target.status === "running"
        ? ""
        : toReport(target, needs[index] ?? 0, shares[index] ?? 0);
    return [frame.head, report, frame.tail].filter((part) => part !== "").join("\n\n");
  });
  return bound(
    [opening, ...blocks].filter((part) => part !== "").join("\n\n"),
    MAX_TASK_WAIT_CHARACTERS,
    (leftOut) => `\n[${leftOut} characters left out]`,
  );
}

function boundFrame({ head, tail }: Frame, limit: number): Frame {
  const cut = (text: string) => bound(text, limit, () => "…");
  return { head: cut(head), tail: cut(tail) };
}

function toOpening(answer: TaskWaitAnswer): string {
  const lines: string[] = [];
  if (answer.isTimedOut) {
    const running = answer.targets.filter((target) => target.status === "running").map((target) => target.id);
    lines.push(
      `Still running after ${Math.round(answer.waitedSeconds)}s: ${running.join(", ")}. This is not a failure: the unfinished delegates keep working. Wait again, go on with something else, or stop them.`,
    );
  }
  for (const id of answer.unknown) lines.push(`Unknown delegation id: ${JSON.stringify(cutAt(id, 100))}.`);
  for (const id of answer.noLongerKept)
    lines.push(`${id} is no longer kept: only the latest 100 settled delegations are.`);
  if (answer.targets.length === 0 && lines.length === 0) {
    lines.push("Nothing to wait for: no delegate is running and every report was handed over.");
  }
  return lines.join("\n");
}

function toFrame(target: Delegation, live: LiveState | undefined, nowMs: number): Frame {
  const title = `## ${target.id} · ${target.agent}${target.description === "" ? "" : ` · ${target.description}`}`;
  const elapsed = `${Math.round(toElapsedSeconds(target, nowMs))}s`;
  if (target.status === "running") {
    return { head: `${title}\nStatus: running for ${elapsed}; ${describeActivity(live, nowMs)}.`, tail: "" };
  }
  const facts = `Status: ${target.status} after ${elapsed}, ${toCountText(target.turns, "turn")}, ${toCountText(target.toolCalls, "tool call")}, model ${target.model}.`;
  const silent = describeMissing(target);
  const none = target.report === "" && silent === "" ? "(It left no text.)" : silent;
  return {
    head: `${title}\n${facts}\n${describeEnding(target)}${none === "" ? "" : `\n${none}`}`,
    tail: describeDenials(target),
  };
}

function describeMissing(target: Delegation): string {
  if (target.report !== "") return "";
  if (target.reportState === "away")
    return `(Its report is kept apart: TaskWait with delegationIds ["${target.id}"] alone reads it.)`;
  return target.reportState === "lost" ? "(The report can no longer be read.)" : "";
}

function toReport(target: Delegation, length: number, share: number): string {
  if (target.report.length === length && length <= share) return target.report;
  const toMark = (kept: number) =>
    `\n[${length - kept} characters left out; TaskWait with delegationIds ["${target.id}"] alone shows more]`;
  const head = cutAt(target.report, Math.max(0, share - toMark(0).length));
  return cutAt(head + toMark(head.length), share);
}
