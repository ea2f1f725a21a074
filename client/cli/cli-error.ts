import { SessionRefusal } from "../../core/session-port.ts";
import { SessionError, sessionErrorCodes } from "../session-error.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";

/** A command can't go on: one sentence for a person, a code for a program, and what the command exits with. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: string;
  readonly exitCode: ExitCode;

  constructor(code: string, text: string, exitCode: ExitCode = exitCodes.usage) {
    super(text);
    this.code = code;
    this.exitCode = exitCode;
  }
}

/** What a failed command says and exits with. */
export interface Failure {
  code: string;
  message: string;
  exitCode: number;
}

/** Turn anything thrown into what the command says. A session that is unknown or closed is a mistake in the call: 2. */
export function toFailure(error: unknown): Failure {
  if (error instanceof CliError) return pick(error, error.exitCode);
  if (error instanceof SessionRefusal) return pick(error, exitCodes.usage);
  if (error instanceof SessionError) {
    const isAway = error.code === sessionErrorCodes.noWorker || error.code === sessionErrorCodes.unreachable;
    const isMistake = !isAway && error.code !== sessionErrorCodes.failed;
    return pick(error, isMistake ? exitCodes.usage : exitCodes.failed);
  }
  if (error instanceof Error && isServerError(error)) return pick(error, error.exitCode);
  return { code: "Internal", message: toMessage(error), exitCode: exitCodes.failed };
}

/** The worker's side names its own exit code; after a boundary the shape counts, not the class. */
function isServerError(error: Error): error is Error & { code: string; exitCode: number } {
  return "exitCode" in error && typeof error.exitCode === "number" && "code" in error;
}

function pick(error: Error & { code: string }, exitCode: number): Failure {
  return { code: error.code, message: error.message, exitCode };
}

function toMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && !error.message.includes(error.cause.message)
    ? `${error.message}: ${toMessage(error.cause)}`
    : error.message;
}
