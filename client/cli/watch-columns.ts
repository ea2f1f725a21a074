import stringWidth from "string-width";
import { padToWidth, toTerminalLine } from "./terminal-width.ts";
import type { WatchRow } from "./watch-row.ts";

const GAP = 2;
/** What an agent is and does has so much room beside its figures, if it needs it. */
const WORDS_COLUMNS = 46;
/** Further apart than this, words and figures are no longer seen as one line. */
const MAX_COLUMNS = 120;

/** An agent's figures, in the order of their worth: as a column, and in words where there is no room for one. */
const figures: readonly { head: string; of: (row: WatchRow) => string; inWords: (cell: string) => string }[] =
  [
    { head: "time", of: ({ elapsedSeconds }) => toClock(elapsedSeconds), inWords: (cell) => cell },
    {
      head: "event",
      of: ({ sinceEventSeconds }) => toAge(sinceEventSeconds),
      inWords: (cell) => `last event ${cell} ago`,
    },
    { head: "turns", of: ({ turns }) => String(turns), inWords: (cell) => `${cell} turns` },
    { head: "tools", of: ({ toolCalls }) => String(toolCalls), inWords: (cell) => `${cell} tool calls` },
    { head: "tokens", of: ({ tokens }) => toTokensText(tokens), inWords: (cell) => `${cell} tokens` },
    { head: "cost", of: ({ cost }) => toMoney(cost), inWords: (cell) => cell },
  ];

/** Agents as aligned lines. */
export interface AgentLines {
  head: string;
  lines: string[];
  /** For each agent the figures that found no room in its line, in words. */
  leftOut: string[];
}

/**
 * Write agents as aligned lines: who and what it is doing, then time, seconds since its last event, turns, tool calls, tokens, cost. No words push a figure
 * out of the line unseen; in a narrow terminal the last figures are left out, for the line below.
 */
export function toAgentLines(rows: readonly WatchRow[], columns: number): AgentLines {
  const all = figures.map(({ head, of, inWords }) => {
    const cells = rows.map(of);
    const width = Math.max(head.length, ...cells.map((cell) => stringWidth(cell)));
    return { head, cells, inWords, width: width + GAP };
  });
  const longest = Math.max(0, ...rows.map((row) => stringWidth(toTerminalLine(toWords(row), WORDS_COLUMNS))));
  const toRoom = (count: number) =>
    Math.min(columns, MAX_COLUMNS) - all.slice(0, count).reduce((sum, { width }) => sum + width, 0);
  let count = all.length;
  while (count > 0 && toRoom(count) < longest) count -= 1;
  const shown = all.slice(0, count);
  const toLine = (words: string, cells: readonly string[]) =>
    [
      padToWidth(words, toRoom(count)),
      ...shown.map(({ width }, index) => (cells[index] ?? "").padStart(width)),
    ].join("");
  const toCells = (index: number) => shown.map(({ cells }) => cells[index] ?? "");
  return {
    head: toLine(
      "",
      shown.map(({ head }) => head),
    ).trimEnd(),
    lines: rows.map((row, index) => toLine(toWords(row), toCells(index)).trimEnd()),
    leftOut: rows.map((_, index) =>
      all
        .slice(count)
        .flatMap(({ cells, inWords }) => (cells[index] ? [inWords(cells[index])] : []))
        .join(", "),
    ),
  };
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

/** Write a count of tokens in few characters. */
export function toTokensText(tokens: number): string {
  if (tokens < 10_000) return String(tokens);
  return tokens < 1_000_000 ? `${(tokens / 1000).toFixed(1)}k` : `${(tokens / 1_000_000).toFixed(2)}M`;
}

/** Write a cost in few characters. */
export function toMoney(cost: number): string {
  return cost > 0 ? `$${cost.toFixed(cost < 1 ? 4 : 2)}` : "";
}
