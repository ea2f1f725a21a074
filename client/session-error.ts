/** Why a session can't be worked with; `code` of a {@link SessionError}. */
export const sessionErrorCodes = {
  /** No session of that id is known to this namespace; its retention may have passed. */
  notFound: "Session.NotFound",
  /** The session has ended: it can be read and takes nothing more. */
  closed: "Session.Closed",
  /** A session of that id exists already. */
  alreadyExists: "Session.AlreadyExists",
  /** The session has no such turn, or keeps it no longer. */
  unknownTurn: "Session.UnknownTurn",
  /** No worker answered for the session in time. */
  noWorker: "Session.NoWorker",
  /** The Temporal server did not answer in time. */
  unreachable: "Session.Unreachable",
  /** The server or a worker refused the call for a reason of its own. */
  failed: "Session.Failed",
} as const;

export type SessionErrorCode = (typeof sessionErrorCodes)[keyof typeof sessionErrorCodes];

/** A session could not be worked with. A call that failed as unreachable or without a worker may have taken effect all the same. */
export class SessionError extends Error {
  override readonly name = "SessionError";
  readonly code: SessionErrorCode;

  constructor(code: SessionErrorCode, text: string, cause?: unknown) {
    super(text, { cause });
    this.code = code;
  }
}
