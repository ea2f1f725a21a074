import type { PermissionQuestionRecord } from "../../core/permission-questions.ts";
import { toCountText, toDurationText } from "./durations.ts";
import { describeQuestion } from "./questions.ts";
import type { Room } from "./screen.ts";
import { toTailLine, toTerminalLine } from "./terminal-width.ts";
import type { WatchRow } from "./watch-row.ts";

/** Delegates that are shown at once. */
const MAX_SHOWN = 10;
const MAX_QUESTIONS = 3;
const SAYING_INDENT = "      ";

/** What `watch` shows at one moment. */
export interface WatchPicture {
  sessionId: string;
  status: string;
  /** The session and how it stands. */
  head: string;
  /** Something that a person should know first, such as a server that is away. */
  notice: string | undefined;
  rows: readonly WatchRow[];
  /** The session's questions, the open ones first. */
  questions: readonly PermissionQuestionRecord[];
}

/** Write a picture as lines of a terminal, as many as there is room for: everyone's line first, then what the running ones are saying. */
export function toWatchLines({ head, notice, rows, questions }: WatchPicture, room: Room): string[] {
  const [main, ...delegates] = rows;
  const more = delegates.length - MAX_SHOWN;
  const rest = more > 0 ? [`  + ${more} more`] : [];
  const open = questions.filter(({ state }) => state === "open");
  const asked = open.slice(0, MAX_QUESTIONS).map(describeQuestion);
  const shown = [...(main === undefined ? [] : [main]), ...delegates.slice(0, MAX_SHOWN)];
  const fixed = 1 + (notice === undefined ? 0 : 1) + shown.length + rest.length + asked.length;
  let left = room.rows - fixed;
  const lines = shown.flatMap((row) => {
    const line = toRowLine(row);
    if (row.saying.trim() === "" || row.status !== "running" || left <= 0) return [line];
    left -= 1;
    return [line, `${SAYING_INDENT}${toTailLine(row.saying, room.columns - SAYING_INDENT.length)}`];
  });
  const all = [head, ...(notice === undefined ? [] : [notice]), ...lines, ...rest, ...asked];
  return all.slice(0, room.rows).map((line) => toTerminalLine(line, room.columns));
}

/** One agent in one line: who, for how long, doing what, what it has used, what it is for. */
export function toRowLine(row: WatchRow): string {
  const name = row.id === "main" ? "main agent" : `  ${row.id} ${row.agent}`;
  const { elapsedSeconds, sinceEventSeconds, description } = row;
  return [
    name,
    ...(elapsedSeconds === undefined ? [] : [toDurationText(elapsedSeconds)]),
    row.activity,
    ...(sinceEventSeconds === undefined || row.activity.includes("last event ")
      ? []
      : [`last event ${sinceEventSeconds}s ago`]),
    toCountsText(row),
    ...(description === "" ? [] : [description]),
  ].join(" · ");
}

function toCountsText({ turns, toolCalls, tokens, cost }: WatchRow): string {
  const money = cost > 0 ? [`$${cost.toFixed(cost < 1 ? 4 : 2)}`] : [];
  return [
    toCountText(turns, "turn"),
    toCountText(toolCalls, "tool call"),
    `${toTokensText(tokens)} tokens`,
    ...money,
  ].join(", ");
}

function toTokensText(tokens: number): string {
  if (tokens < 10_000) return String(tokens);
  return tokens < 1_000_000 ? `${(tokens / 1000).toFixed(1)}k` : `${(tokens / 1_000_000).toFixed(2)}M`;
}
