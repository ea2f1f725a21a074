import type { PermissionAnswered } from "../../core/messages.ts";
import type { PermissionAnswer, PermissionQuestionRecord } from "../../core/permission-questions.ts";
import type { Keyboard } from "./keyboard.ts";
import { type LineInput, typeInto } from "./line-input.ts";
import type { ToCommand } from "./own-command.ts";
import { describeStanding, toAsker } from "./questions.ts";
import type { Room, Screen } from "./screen.ts";
import { toTerminalLines } from "./terminal-width.ts";

/** A key counts once its question has been there and no key was pressed for so long: what was meant for another must not allow anything. */
const ARM_MS = 400;
const MAX_TARGET_LINES = 4;
const MAX_ARGUMENT_LINES = 8;
/** Lines of a prompt besides these: a blank one, the head, and the keys. */
const OTHER_LINES = 3;
const CONTROL_C = "\u0003";

/** Asks the person at the terminal, one question at a time, the oldest first. */
export interface QuestionPrompt {
  /** Hear how the session's questions stand now. */
  update(questions: readonly PermissionQuestionRecord[]): void;
  toLines(room: Room): string[];
  /** Ask no more, and give the keyboard back. */
  end(): void;
}

export interface PromptPlace {
  sessionId: string;
  screen: Pick<Screen, "drawSoon" | "note">;
  keyboard: Keyboard;
  /** Who answers, for the record. */
  by: string;
  answer(answer: PermissionAnswer): Promise<PermissionAnswered>;
  toCommand: ToCommand;
  /** Ctrl-C, which the terminal does not act on while keys are listened to. */
  interrupt(): void;
}

export function createQuestionPrompt(place: PromptPlace): QuestionPrompt {
  return new Prompt(place);
}

class Prompt implements QuestionPrompt {
  readonly #place: PromptPlace;
  #open: readonly PermissionQuestionRecord[] = [];
  /** Questions whose answer from here is on its way or has arrived. */
  readonly #answered = new Set<string>();
  #current: PermissionQuestionRecord | undefined;
  #isArmed = false;
  #arming: NodeJS.Timeout | undefined;
  /** Set while a reason is being typed. */
  #reason: LineInput | undefined;
  #release: (() => void) | undefined;
  #isEnded = false;

  constructor(place: PromptPlace) {
    this.#place = place;
  }

  update(questions: readonly PermissionQuestionRecord[]): void {
    const shown = this.#current;
    const standing = questions.find(({ id }) => id === shown?.id);
    if (standing !== undefined && standing.state !== "open")
      this.#place.screen.note(`${standing.id} was settled elsewhere: ${describeStanding(standing)}`);
    this.#open = questions.filter(({ id, state }) => state === "open" && !this.#answered.has(id));
    this.#choose();
  }

  toLines({ columns, rows }: Room): string[] {
    const question = this.#current;
    if (question === undefined) return [];
    const count = this.#open.length > 1 ? ` (1 of ${this.#open.length} questions)` : "";
    const most = Math.max(2, Math.min(MAX_TARGET_LINES + MAX_ARGUMENT_LINES, rows - OTHER_LINES));
    const forTarget = Math.min(MAX_TARGET_LINES, most - 1);
    const target = toTerminalLines(question.target, columns - 4, forTarget);
    const input = toTerminalLines(
      question.arguments,
      columns - 4,
      Math.min(MAX_ARGUMENT_LINES, most - target.length),
    );
    const isCut = [target, input].some((lines) => lines.at(-1)?.endsWith(" more characters]"));
    const all = isCut
      ? ` · all of it: ${this.#place.toCommand(["show", this.#place.sessionId, question.id])}`
      : "";
    return [
      "",
      `${question.id}: ${toAsker(question)} asks to run ${question.tool}${count}${all}`,
      ...target.map((line) => `    ${line}`),
      ...input.map((line) => `    ${line}`),
      this.#toKeysLine(),
    ];
  }

  end(): void {
    this.#isEnded = true;
    this.#open = [];
    this.#choose();
  }

  #toKeysLine(): string {
    if (this.#reason !== undefined) return `reason (Enter sends it, Escape goes back): ${this.#reason.text}▏`;
    return this.#isArmed ? "y allow · s allow for this session · n deny" : "…";
  }

  /** Go on to the oldest open question; the keyboard is ours only while there is one. */
  #choose(): void {
    const [next] = this.#open;
    if (next?.id === this.#current?.id) return;
    this.#current = next;
    this.#reason = undefined;
    this.#disarm();
    if (next === undefined) {
      this.#release?.();
      this.#release = undefined;
    } else {
      this.#release ??= this.#place.keyboard.listen((keys) => this.#onKeys(keys));
      this.#arm();
    }
    if (!this.#isEnded) this.#place.screen.drawSoon();
  }

  #arm(): void {
    clearTimeout(this.#arming);
    this.#arming = setTimeout(() => {
      this.#isArmed = true;
      this.#place.screen.drawSoon();
    }, ARM_MS);
  }

  #disarm(): void {
    clearTimeout(this.#arming);
    this.#isArmed = false;
  }

  #onKeys(keys: string): void {
    if (keys.includes(CONTROL_C)) {
      this.end();
      this.#place.interrupt();
      return;
    }
    const question = this.#current;
    if (question === undefined) return;
    if (!this.#isArmed) {
      this.#arm();
      return;
    }
    if (this.#reason !== undefined) this.#type(question, this.#reason, keys);
    else this.#press(question, keys);
    this.#place.screen.drawSoon();
  }

  /** What is pasted is longer than one key, and no answer. */
  #press(question: PermissionQuestionRecord, key: string): void {
    const { id: questionId } = question;
    if (key === "y" || key === "Y") this.#send({ questionId, verdict: "allow" });
    else if (key === "s" || key === "S") this.#send({ questionId, verdict: "allow", forSession: true });
    else if (key === "n" || key === "N") this.#reason = { text: "", state: "typing" };
  }

  #type({ id: questionId }: PermissionQuestionRecord, reason: LineInput, keys: string): void {
    const line = typeInto(reason, keys);
    this.#reason = line.state === "given-up" ? undefined : line;
    if (line.state !== "done") return;
    const text = line.text.trim();
    this.#send({ questionId, verdict: "deny", ...(text === "" ? {} : { reason: text }) });
  }

  #send(given: Omit<PermissionAnswer, "by">): void {
    const { screen, by, answer } = this.#place;
    const { questionId } = given;
    this.#answered.add(questionId);
    this.#open = this.#open.filter(({ id }) => id !== questionId);
    this.#choose();
    answer({ ...given, by }).then(
      ({ question, hasTakenEffect }) => {
        const how = hasTakenEffect ? "" : "was settled elsewhere: ";
        screen.note(`${questionId} ${toAsker(question)}: ${how}${describeStanding(question)}`);
      },
      (error: unknown) => {
        // It is asked again at the next look.
        this.#answered.delete(questionId);
        screen.note(
          `${questionId} could not be answered: ${error instanceof Error ? error.message : String(error)}`,
        );
      },
    );
  }
}
