import type { TextStream } from "./output.ts";
import type { Progress, Snapshot } from "./progress.ts";
import { toProgressLines } from "./progress-lines.ts";
import type { QuestionPrompt } from "./question-prompt.ts";
import { createScreen, type Room, type Screen } from "./screen.ts";

/** Makes the prompt for questions once there is a screen to put it on. */
export type PromptMaker = (screen: Screen) => QuestionPrompt;

/** Show progress in place on a terminal, and below it the question that is to be answered. */
export function createTerminalProgress(
  stream: TextStream,
  now: () => number = Date.now,
  makePrompt?: PromptMaker,
): Progress {
  let latest: { snapshot: Snapshot; atMs: number } | undefined;
  const screen = createScreen(stream, toLines, now);
  const prompt = makePrompt?.(screen);

  function toLines(room: Room): string[] {
    if (latest === undefined) return [];
    const asked = prompt?.toLines(room) ?? [];
    const lines = toProgressLines(advance(latest, now()), room.columns);
    return [...lines.slice(0, Math.max(0, room.rows - asked.length)), ...asked];
  }

  return {
    update(snapshot) {
      latest = { snapshot, atMs: now() };
      prompt?.update(snapshot.view.questions);
      screen.drawSoon();
    },
    note: (text) => screen.note(text),
    end() {
      prompt?.end();
      screen.end();
    },
  };
}

/** Between two looks the clocks on the screen go on. */
function advance({ snapshot, atMs }: { snapshot: Snapshot; atMs: number }, nowMs: number): Snapshot {
  return { ...snapshot, view: { ...snapshot.view, nowMs: snapshot.view.nowMs + Math.max(0, nowMs - atMs) } };
}
