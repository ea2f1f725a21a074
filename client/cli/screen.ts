import { cutAt, escapeControls } from "../../core/text.ts";
import type { TextStream } from "./output.ts";
import { toTerminalLine } from "./terminal-width.ts";

const MIN_REDRAW_MS = 100;
const TICK_MS = 1000;
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;
const MAX_NOTE_CHARACTERS = 2000;

const ESCAPE = "\u001b[";
const eraseToLineEnd = `${ESCAPE}K`;
const eraseBelow = `${ESCAPE}J`;
const toCursorUp = (lines: number) => (lines > 0 ? `${ESCAPE}${lines}A\r` : "\r");

/** Room that a drawing has: what is wider or longer is cut. */
export interface Room {
  columns: number;
  rows: number;
}

/** The last lines of a terminal, drawn again in place. */
export interface Screen {
  /** Draw soon: at most ten times a second, with one write a time, so that nothing flickers. */
  drawSoon(): void;
  /** Write a remark above what is redrawn. */
  note(text: string): void;
  /** Leave the terminal in order, with what was drawn last still on it or without. Nothing is drawn afterwards. */
  end(options?: { isKept: boolean }): void;
}

/**
 * Draw in place. `toLines` is asked at every drawing, and once a second, for clocks; no lines: nothing is drawn yet.
 *
 * The only control sequences written are its own; every line is escaped and shorter than the terminal is wide, so that none wraps, and there are
 * fewer lines than the terminal has, so that the way back up is never cut off.
 */
export function createScreen(
  stream: TextStream,
  toLines: (room: Room) => readonly string[],
  now: () => number = Date.now,
): Screen {
  let drawnLines = 0;
  let drawnBody = "";
  let drawnAtMs = Number.NEGATIVE_INFINITY;
  let pending: NodeJS.Timeout | undefined;
  let isEnded = false;

  function toBody(lines: readonly string[], { columns, rows }: Room): string[] {
    return lines.slice(0, rows).map((line) => toTerminalLine(line, columns));
  }

  function draw(above = "", isKept = true): void {
    const room = {
      columns: Math.max(1, (stream.columns || DEFAULT_COLUMNS) - 1),
      rows: Math.max(1, (stream.rows || DEFAULT_ROWS) - 1),
    };
    const lines = isKept ? toBody(toLines(room), room) : [];
    const body = lines.map((line) => `${line}${eraseToLineEnd}\n`).join("");
    drawnAtMs = now();
    if (isKept && above === "" && body === drawnBody) return;
    stream.write(`${toCursorUp(drawnLines)}${above}${body}${eraseBelow}`);
    drawnBody = body;
    drawnLines = lines.length;
  }

  function drawSoon(): void {
    if (pending !== undefined || isEnded) return;
    const waitMs = Math.max(0, drawnAtMs + MIN_REDRAW_MS - now());
    pending = setTimeout(() => {
      pending = undefined;
      if (!isEnded) draw();
    }, waitMs);
  }

  const tick = setInterval(() => drawnLines > 0 && drawSoon(), TICK_MS);
  tick.unref();
  return {
    drawSoon,
    note(text) {
      if (!isEnded) draw(toNote(text));
    },
    end({ isKept } = { isKept: false }) {
      if (isEnded) return;
      isEnded = true;
      clearInterval(tick);
      clearTimeout(pending);
      draw("", isKept);
    },
  };
}

/** A remark stays above what is redrawn, so it may be as wide as it is. */
function toNote(text: string): string {
  const lines = escapeControls(cutAt(text, MAX_NOTE_CHARACTERS), { multiline: true }).split("\n");
  return lines.map((line) => `${line}${eraseToLineEnd}\n`).join("");
}
