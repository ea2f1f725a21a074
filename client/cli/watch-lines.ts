import stringWidth from "string-width";
import type { PermissionQuestionRecord } from "../../core/permission-questions.ts";
import { toCountText } from "../../core/text.ts";
import { toDurationText } from "./durations.ts";
import type { ToCommand } from "./own-command.ts";
import { describeQuestion, toAnswerCommands } from "./questions.ts";
import type { Room } from "./screen.ts";
import { toTailLine, toTerminalLine, toTerminalLines } from "./terminal-width.ts";
import { toAgentLines, toMoney, toTokensText } from "./watch-columns.ts";
import type { WatchRow } from "./watch-row.ts";

/** Delegates that are shown at once. */
const MAX_SHOWN = 10;
const MAX_QUESTIONS = 3;
const MAX_NOTICE_LINES = 2;
const INDENT = "    ";
const SEPARATOR = " · ";

/** What `watch` shows at one moment. */
export interface WatchPicture {
  sessionId: string;
  status: string;
  /** The session and how it stands. */
  head: string;
  /** Something that a person should know first, such as a server that is away. */
  notice: string | undefined;
  rows: readonly WatchRow[];
  /** How a command is written that a person may type next. */
  toCommand: ToCommand;
  /** The session's questions, the open ones first. */
  questions: readonly PermissionQuestionRecord[];
}

/**
 * Write a picture as lines of a terminal, as many as there is room for: everyone's line first, then what the running ones are for and the end of what they
 * are saying.
 */
export function toWatchLines(picture: WatchPicture, room: Room): string[] {
  const { head, notice, rows } = picture;
  const [main, ...delegates] = rows;
  const more = delegates.length - MAX_SHOWN;
  const rest = more > 0 ? [`  + ${more} more`] : [];
  const asked = toQuestionLines(picture);
  const noticed = notice === undefined ? [] : toTerminalLines(notice, room.columns, MAX_NOTICE_LINES);
  const shown = [...(main === undefined ? [] : [main]), ...delegates.slice(0, MAX_SHOWN)];
  const { head: columnHeads, lines: agents, leftOut } = toAgentLines(shown, room.columns);
  const fixed = 2 + noticed.length + shown.length + rest.length + asked.length;
  let left = room.rows - fixed;
  const lines = shown.flatMap((row, index) => {
    const line = agents[index] ?? "";
    const words = toSecondLine(leftOut[index] ?? "", row, room.columns - INDENT.length);
    if (words === "" || left <= 0) return [line];
    left -= 1;
    return [line, `${INDENT}${words}`];
  });
  const all = [head, ...noticed, columnHeads, ...lines, ...rest, ...asked];
  return all.slice(0, room.rows).map((line) => toTerminalLine(line, room.columns));
}

/** The oldest question says how it is answered; the others follow. */
function toQuestionLines({ sessionId, questions, toCommand }: WatchPicture): string[] {
  const open = questions.filter(({ state }) => state === "open").slice(0, MAX_QUESTIONS);
  const [first] = open;
  const lines = open.map(describeQuestion);
  if (first === undefined) return [];
  return [...lines, `${INDENT}${toAnswerCommands(sessionId, first, toCommand).approve}`];
}

/** Figures that found no room in the first line, and what the agent is for and says. */
function toSecondLine(leftOut: string, row: WatchRow, columns: number): string {
  if (leftOut === "") return toPurposeAndWords(row, columns);
  const words = toPurposeAndWords(row, columns - stringWidth(leftOut) - SEPARATOR.length);
  return words === "" ? leftOut : `${leftOut}${SEPARATOR}${words}`;
}

/** What an agent is for, and behind it the end of what it is saying while it runs. A settled one's line stays alone where it has no purpose. */
function toPurposeAndWords({ description, saying, status }: WatchRow, columns: number): string {
  const isSpeaking = status === "running" && saying.trim() !== "";
  if (!isSpeaking) return toTerminalLine(description, columns);
  if (description === "") return toTailLine(saying, columns);
  const purpose = toTerminalLine(description, Math.floor(columns / 2));
  const room = columns - stringWidth(purpose) - SEPARATOR.length;
  return `${purpose}${SEPARATOR}${toTailLine(saying, room)}`;
}

/** One agent in one line of a pipe: who, for how long, doing what, what it has used, what it is for. */
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
  return [
    toCountText(turns, "turn"),
    toCountText(toolCalls, "tool call"),
    `${toTokensText(tokens)} tokens`,
    ...(cost > 0 ? [toMoney(cost)] : []),
  ].join(", ");
}
