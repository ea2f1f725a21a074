export type ServerErrorCode =
  /** What the person configured can't be used as it stands. */
  | "Server.Configuration"
  /** No program that could run a server can be had. */
  | "Server.NoBinary"
  /** A server of our own could not be started or kept running. */
  | "Server.NotStarted";

/** Say why there is no Temporal server to work with, and what to do. A command that meets one ends with exit code 2. */
export class ServerError extends Error {
  readonly exitCode = 2;
  readonly code: ServerErrorCode;

  constructor(code: ServerErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "ServerError";
    this.code = code;
  }
}

/** The text of anything thrown, causes that add something included. */
export function toErrorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : toErrorText(error.cause);
  return cause === "" || error.message.includes(cause) ? error.message : `${error.message}: ${cause}`;
}
