import { CliError } from "./cli-error.ts";
import { type Connected, connect, type ServerFlags } from "./connect.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import type { Host } from "./host.ts";
import { toQuestionEvent, toQuestionText } from "./questions.ts";
import { showDelegate } from "./show-delegate.ts";
import { showMain } from "./show-main.ts";
import { showSession } from "./show-session.ts";
import { showTranscript } from "./show-transcript.ts";

export interface ShowFlags extends ServerFlags {
  transcript: boolean;
  full: boolean;
}

/** What is shown, and with what. */
export interface Showing {
  sessionId: string;
  connected: Connected;
  flags: ShowFlags;
  host: Host;
}

/** Show a session, its main agent, one of its turns, delegations or questions. Reads the server's records and this host's files: no worker is needed. */
export async function show(
  sessionId: string,
  what: string | undefined,
  flags: ShowFlags,
  host: Host,
): Promise<ExitCode> {
  if (flags.transcript && (what === undefined || /^q-\d+$/.test(what))) {
    throw new CliError(
      "Usage.Invalid",
      "--transcript needs whose: `main`, a turn such as turn-1, or a delegation such as task-1",
    );
  }
  const connected = await host.interruption.orElse(connect(flags, host));
  try {
    await host.interruption.orElse(showWhat({ sessionId, connected, flags, host }, what));
    return exitCodes.completed;
  } finally {
    await connected.release();
  }
}

async function showWhat(showing: Showing, what: string | undefined): Promise<void> {
  if (what === undefined) await showSession(showing);
  else if (/^q-\d+$/.test(what)) await showQuestion(showing, what);
  else if (showing.flags.transcript) await showTranscript(showing, what);
  else if (what === "main" || /^turn-\d+$/.test(what)) await showMain(showing, what);
  else await showDelegate(showing, what);
}

async function showQuestion({ sessionId, connected, host }: Showing, questionId: string): Promise<void> {
  await connected.sessions.describe(sessionId);
  const { questions } = (await connected.sessions.get(sessionId).story()).view;
  const question = questions.find(({ id }) => id === questionId);
  if (question === undefined) {
    const known = questions.map(({ id }) => id).join(", ") || "none";
    throw new CliError(
      "Question.Unknown",
      `${sessionId} has no question ${questionId}, or keeps it no longer; it has: ${known}`,
    );
  }
  host.output.event(toQuestionEvent(sessionId, question, host.output.toCommand));
  host.output.print(toQuestionText(sessionId, question, host.output.toCommand));
}
