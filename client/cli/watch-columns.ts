import stringWidth from "string-width";
import { padToWidth, toTerminalLine } from "./terminal-width.ts";
import type { WatchRow } from "./watch-row.ts";

const GAP = 2;
/** What an agent is and does has at least this room beside its figures; where there is less, the figures go, the last ones first. */
const MIN_WORDS_COLUMNS = 30;
/** Further apart than this, words and figures are no longer seen as one line. */
const MAX_COLUMNS = 120;

/** An agent's figures, in the order of their worth. They stand at the right edge, where no words can push them out. */
const figures: readonly { head: string; of: (row: WatchRow) => string }[] = [
  { head: "time", of: ({ elapsedSeconds }) => toClock(elapsedSeconds) },
  { head: "event", of: ({ sinceEventSeconds }) => toAge(sinceEventSeconds) },
  { head: "turns", of: ({ turns }) => String(turns) },
  { head: "tools", of: ({ toolCalls }) => String(toolCalls) },
  { head: "tokens", of: ({ tokens }) => toTokensText(tokens) },
  { head: "cost", of: ({ cost }) => toMoney(cost) },
];

/** Write agents as aligned lines: who and what it is doing, then time, seconds since its last event, turns, tool calls, tokens, cost. The first is the head. */
export function toAgentLines(rows: readonly WatchRow[], columns: number): string[] {
  const shown = figures.map(({ head, of }) => {
    const cells = rows.map(of);
    return { head, cells, width: Math.max(head.length, ...cells.map((cell) => stringWidth(cell))) };
  });
  const toRoom = () =>
    Math.min(columns, MAX_COLUMNS) - shown.reduce((sum, { width }) => sum + width + GAP, 0);
  while (shown.length > 0 && toRoom() < MIN_WORDS_COLUMNS) shown.pop();
  const room = toRoom();
  const toLine = (words: string, cells: readonly string[]) =>
    [padToWidth(words, room), ...shown.map(({ width }, index) => (cells[index] ?? "").padStart(width))]
      .join(" ".repeat(GAP))
      .trimEnd();
  const head = toLine(
    "",
    shown.map((figure) => figure.head),
  );
  return [
    head,
    ...rows.map((row, index) =>
      toLine(
        toWords(row),
        shown.map(({ cells }) => cells[index] ?? ""),
      ),
    ),
  ].map((line) => toTerminalLine(line, columns));
}

function toWords({ id, agent, doing }: WatchRow): string {
  return `${id === "main" ? "main agent" : `${id} ${agent}`} · ${doing}`;
}

/** `0:09`, `12:30`, `2:03:04`. */
function toClock(seconds: number | undefined): string {
  if (seconds === undefined) return "";
  const whole = Math.floor(seconds);
  const two = (number: number) => String(number).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  return hours === 0 ? `${minutes}:${two(whole % 60)}` : `${hours}:${two(minutes)}:${two(whole % 60)}`;
}

function toAge(seconds: number | undefined): string {
  return seconds === undefined ? "" : `${seconds}s`;
}

export function toTokensText(tokens: number): string {
  if (tokens < 10_000) return String(tokens);
  return tokens < 1_000_000 ? `${(tokens / 1000).toFixed(1)}k` : `${(tokens / 1_000_000).toFixed(2)}M`;
}

export function toMoney(cost: number): string {
  return cost > 0 ? `$${cost.toFixed(cost < 1 ? 4 : 2)}` : "";
}
