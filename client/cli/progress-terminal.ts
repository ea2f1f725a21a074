import { cutAt, escapeControls } from "../../core/text.ts";
import type { TextStream } from "./output.ts";
import type { Progress, Snapshot } from "./progress.ts";
import { toProgressLines } from "./progress-lines.ts";

const MIN_REDRAW_MS = 100;
const TICK_MS = 1000;
const DEFAULT_COLUMNS = 80;
const MAX_NOTE_CHARACTERS = 2000;

const ESCAPE = "\u001b[";
const eraseToLineEnd = `${ESCAPE}K`;
const eraseBelow = `${ESCAPE}J`;
const toCursorUp = (lines: number) => (lines > 0 ? `${ESCAPE}${lines}A\r` : "\r");

/**
 * Show progress in place on a terminal, at most ten times a second and with one write a time, so that nothing flickers.
 *
 * The only control sequences written are its own; every line is escaped and shorter than the terminal is wide, so that none wraps.
 */
export function createTerminalProgress(stream: TextStream, now: () => number = Date.now): Progress {
  let latest: { snapshot: Snapshot; atMs: number } | undefined;
  let drawnLines = 0;
  let drawnAtMs = Number.NEGATIVE_INFINITY;
  let pending: NodeJS.Timeout | undefined;
  let isEnded = false;

  const columns = () => Math.max(1, (stream.columns ?? DEFAULT_COLUMNS) - 1);

  function draw(above = ""): void {
    const lines = latest === undefined ? [] : toProgressLines(advance(latest, now()), columns());
    const body = lines.map((line) => `${line}${eraseToLineEnd}\n`).join("");
    stream.write(`${toCursorUp(drawnLines)}${above}${body}${eraseBelow}`);
    drawnLines = lines.length;
    drawnAtMs = now();
  }

  function drawSoon(): void {
    if (pending !== undefined || latest === undefined || isEnded) return;
    const waitMs = Math.max(0, drawnAtMs + MIN_REDRAW_MS - now());
    pending = setTimeout(() => {
      pending = undefined;
      if (!isEnded) draw();
    }, waitMs);
  }

  const tick = setInterval(drawSoon, TICK_MS);
  tick.unref();
  return {
    update(snapshot) {
      latest = { snapshot, atMs: now() };
      drawSoon();
    },
    note(text) {
      if (!isEnded) draw(toNote(text));
    },
    end() {
      if (isEnded) return;
      isEnded = true;
      clearInterval(tick);
      clearTimeout(pending);
      stream.write(`${toCursorUp(drawnLines)}${eraseBelow}`);
    },
  };
}

/** A remark stays above what is redrawn, so it may be as wide as it is. */
function toNote(text: string): string {
  const lines = escapeControls(cutAt(text, MAX_NOTE_CHARACTERS), { multiline: true }).split("\n");
  return lines.map((line) => `${line}${eraseToLineEnd}\n`).join("");
}

/** Between two looks the clocks on the screen go on. */
function advance({ snapshot, atMs }: { snapshot: Snapshot; atMs: number }, nowMs: number): Snapshot {
  return { ...snapshot, view: { ...snapshot.view, nowMs: snapshot.view.nowMs + Math.max(0, nowMs - atMs) } };
}
