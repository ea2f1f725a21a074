import type { RunError } from "../../core/status.ts";
import { toCountText, toOneLine } from "../../core/text.ts";
import type { TimelineEvent } from "../story/timeline.ts";
import { toDurationText } from "./durations.ts";

/** Lines of a timeline that are shown unless all are asked for: the beginning, and the more telling end. */
const FIRST_LINES = 20;
const LAST_LINES = 80;
const MAX_TEXT_CHARACTERS = 200;

/** One line of a timeline. */
export interface TimelineLine {
  atMs: number;
  text: string;
}

/** Write lines with the time since the start and the clock's, the middle left out where there are too many. */
export function toTimelineText(
  lines: readonly TimelineLine[],
  startedAtMs: number,
  isFull: boolean,
): string[] {
  const leftOut = isFull ? 0 : lines.length - FIRST_LINES - LAST_LINES;
  const rows = lines.map(({ atMs, text }) => `${toSince(atMs - startedAtMs)}  ${toClock(atMs)}  ${text}`);
  if (leftOut <= 0) return rows;
  return [
    ...rows.slice(0, FIRST_LINES),
    `${" ".repeat(12)}... ${toCountText(leftOut, "line")} left out; --full shows all`,
    ...rows.slice(-LAST_LINES),
  ];
}

function toSince(milliseconds: number): string {
  return `+${toDurationText(Math.max(0, milliseconds) / 1000)}`.padStart(12);
}

function toClock(atMs: number): string {
  return new Date(atMs).toISOString().slice(11, 19);
}

/** What happened, a line an event. */
export function toTimelineLines(events: readonly TimelineEvent[]): TimelineLine[] {
  return events.map((event) => ({ atMs: event.atMs, text: describeHappening(event) }));
}

/** Say in one line what happened. */
export function describeHappening(event: TimelineEvent): string {
  switch (event.kind) {
    case "began":
      return "session began";
    case "message":
      return `message ${event.turn}: ${toShort(event.prompt)}`;
    case "turn-ended":
      return `turn ${event.turn} ${event.status} after ${toDurationText(event.elapsedSeconds)}${toWhy(event.error)}`;
    case "delegated": {
      const resumed = event.resumedFrom === undefined ? "" : `, goes on from ${event.resumedFrom}`;
      return `${event.id} ${event.agent} begins${resumed}${event.description === "" ? "" : `: ${toShort(event.description)}`}`;
    }
    case "delegate-ended": {
      const attempts = event.attempts > 1 ? `, in ${event.attempts} attempts` : "";
      return `${event.id} ${event.agent} ${event.status} after ${toDurationText(event.elapsedSeconds)}${attempts}${toWhy(event.error)}`;
    }
    case "ended":
      return `session ${describeSessionEnd(event)}`;
    default:
      return describeRemark(event);
  }
}

function describeRemark(
  event: Exclude<
    TimelineEvent,
    { kind: "began" | "message" | "turn-ended" | "delegated" | "delegate-ended" | "ended" }
  >,
): string {
  switch (event.kind) {
    case "asked":
      return `${event.question}: ${event.id === "main" ? "the main agent" : event.id} asks to run ${event.tool} ${toShort(event.target)}`;
    case "answered": {
      const by = event.by === undefined ? "" : ` by ${event.by}`;
      return `${event.question} ${event.state}${by}${event.answer ? `: ${toShort(event.answer)}` : ""}`;
    }
    case "stop-requested":
      return event.cause === "stopped"
        ? `${event.id} is told to stop`
        : `${event.id} is told to end: its turn is over or its session closes`;
    case "attempt":
      return `${event.id}: attempt ${event.attempt} begins${event.before === "" ? "" : `; the one before ended: ${toShort(event.before)}`}`;
    case "mode":
      return `permission mode ${event.mode}`;
    case "closing":
      return "the session is told to close";
    case "cancel-requested":
      return `the session is asked to cancel${event.reason === "" ? "" : `: ${toShort(event.reason)}`}`;
    case "fault":
      return `a step of the session's workflow failed${event.times > 1 ? ` ${event.times} times` : ""}: ${toShort(event.message)}`;
  }
}

/** Say how a session ended. */
export function describeSessionEnd({ how, reason, by }: { how: string; reason: string; by: string }): string {
  const word = how === "completed" ? "closed" : how.replaceAll("-", " ");
  const who = by === "" ? "" : ` by ${toShort(by)}`;
  return `${word}${who}${reason === "" ? "" : `: ${toShort(reason)}`}`;
}

function toWhy(error: RunError | undefined): string {
  return error === undefined ? "" : ` (${error.code}: ${toShort(error.message)})`;
}

/** Cut a text to what fits on a line of a timeline. */
export function toShort(text: string): string {
  return toOneLine(text, MAX_TEXT_CHARACTERS);
}
