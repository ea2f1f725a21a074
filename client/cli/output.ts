import { escapeControls } from "../../core/text.ts";
import type { Failure } from "./cli-error.ts";
import { type ToCommand, toPlainCommand } from "./own-command.ts";

/** One line of `--json`. */
export type JsonEvent = { type: string } & Record<string, unknown>;

export interface TextStream {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
  rows?: number;
}

/** Where a command writes: results to stdout, everything else to stderr; with `--json` one object a line to stdout and nothing else. */
export interface Output {
  readonly isJson: boolean;
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  /** Whether anybody still reads standard output: `head` goes when it has enough. */
  hasReader(): boolean;
  /** How a command is written that a person may type next. */
  readonly toCommand: ToCommand;
  /** A line for programs; dropped without `--json`. */
  event(event: JsonEvent): void;
  /** Results for people; dropped with `--json`. */
  print(text: string): void;
  /** Progress and remarks for people; dropped with `--json`. */
  say(text: string): void;
  /** Hand remarks to whoever has drawn on the screen; nobody: undefined. */
  divert(to: ((text: string) => void) | undefined): void;
  /** Why a command failed. */
  fail(failure: Failure, stack?: string): void;
}

/** Nothing that is written through it can drive a terminal: control characters are shown escaped. */
export function createOutput(options: {
  isJson: boolean;
  stdout: TextStream;
  stderr: TextStream;
  toCommand?: ToCommand;
  hasReader?: () => boolean;
}): Output {
  const { isJson, stdout, stderr, toCommand = toPlainCommand, hasReader = () => true } = options;
  let diverted: ((text: string) => void) | undefined;
  return {
    isJson,
    stdout,
    stderr,
    hasReader,
    toCommand,
    event(event) {
      if (isJson) stdout.write(`${toJsonLine(event)}\n`);
    },
    print(text) {
      if (!isJson) stdout.write(`${escapeControls(text, { multiline: true })}\n`);
    },
    divert(to) {
      diverted = to;
    },
    say(text) {
      if (diverted !== undefined) diverted(text);
      else if (!isJson) stderr.write(`${escapeControls(text, { multiline: true })}\n`);
    },
    fail({ code, message }, stack) {
      if (isJson) stdout.write(`${toJsonLine({ type: "error", code, message })}\n`);
      else stderr.write(`subagents: ${escapeControls(message, { multiline: true })}\n`);
      if (stack !== undefined) stderr.write(`${escapeControls(stack, { multiline: true })}\n`);
    },
  };
}

/** JSON that a terminal may show: what JSON leaves bare and a terminal could act on is written as `\u` escapes. */
function toJsonLine(value: unknown): string {
  return JSON.stringify(value).replace(/[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}
