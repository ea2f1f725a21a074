import { toOneLine } from "../../core/text.ts";
import type { Output } from "./output.ts";
import { createQuestionTeller } from "./questions.ts";
import { createScreen } from "./screen.ts";
import { toRowLine, toWatchLines, type WatchPicture } from "./watch-lines.ts";
import type { WatchRow } from "./watch-row.ts";

/** Shows one picture after another: in place on a terminal, elsewhere what has changed. */
export interface WatchDisplay {
  /** How often it is worth a new picture. */
  everyMs: number;
  /** Show what `look` sees; on a terminal it is asked as late as can be. */
  show(look: () => WatchPicture): void;
  end(): void;
}

const TERMINAL_EVERY_MS = 100;
const JSON_EVERY_MS = 200;
const LINES_EVERY_MS = 1000;
/** With --json, an agent's words alone are worth a line so often. */
const SAYING_EVERY_MS = 1000;
const MAX_LINE_CHARACTERS = 500;

export function createWatchDisplay(output: Output): WatchDisplay {
  if (output.isJson) return createJsonDisplay(output);
  return output.stdout.isTTY === true ? createTerminalDisplay(output) : createLineDisplay(output);
}

function createTerminalDisplay(output: Output): WatchDisplay {
  let latest: (() => WatchPicture) | undefined;
  const screen = createScreen(output.stdout, (room) =>
    latest === undefined ? [] : toWatchLines(latest(), room),
  );
  output.divert((text) => screen.note(text));
  return {
    everyMs: TERMINAL_EVERY_MS,
    show(look) {
      latest = look;
      screen.drawSoon();
    },
    end() {
      output.divert(undefined);
      screen.end({ isKept: true });
    },
  };
}

function createLineDisplay(output: Output): WatchDisplay {
  const seen = new Map<string, string>();
  let tellQuestions: ReturnType<typeof createQuestionTeller> | undefined;
  const print = (line: string) => output.print(toOneLine(line, MAX_LINE_CHARACTERS));
  const printChange = (key: string, value: string, line: string) => {
    if (seen.get(key) === value) return;
    seen.set(key, value);
    if (line !== "") print(line);
  };
  return {
    everyMs: LINES_EVERY_MS,
    show(look) {
      const { sessionId, head, notice, rows, questions } = look();
      printChange("head", head, head);
      printChange("notice", notice ?? "", notice ?? "");
      for (const row of rows) printChange(`row ${row.id}`, toState(row), toRowLine(row));
      tellQuestions ??= createQuestionTeller(sessionId, true, print, output.toCommand);
      tellQuestions(questions);
    },
    end: () => undefined,
  };
}

function createJsonDisplay(output: Output): WatchDisplay {
  const seen = new Map<string, { state: string; saying: string; atMs: number }>();
  let lastHead = "";
  let tellQuestions: ReturnType<typeof createQuestionTeller> | undefined;
  const hasNews = (row: WatchRow, nowMs: number) => {
    const before = seen.get(row.id);
    if (before === undefined || before.state !== toState(row)) return true;
    return before.saying !== row.saying && nowMs - before.atMs >= SAYING_EVERY_MS;
  };
  return {
    everyMs: JSON_EVERY_MS,
    show(look) {
      const { sessionId, status, head, notice, rows, questions } = look();
      const nowMs = Date.now();
      const news = JSON.stringify([head, notice]);
      if (news !== lastHead)
        output.event({
          type: "session",
          session: sessionId,
          status,
          ...(notice === undefined ? {} : { notice }),
        });
      lastHead = news;
      for (const row of rows.filter((each) => hasNews(each, nowMs))) {
        seen.set(row.id, { state: toState(row), saying: row.saying, atMs: nowMs });
        const { state: _, doing: __, ...shown } = row;
        output.event({ type: "agent", session: sessionId, ...shown });
      }
      tellQuestions ??= createQuestionTeller(
        sessionId,
        true,
        (_, event) => output.event(event),
        output.toCommand,
      );
      tellQuestions(questions);
    },
    end: () => undefined,
  };
}

function toState({ status, state, turns, toolCalls }: WatchRow): string {
  return JSON.stringify([status, state, turns, toolCalls]);
}
