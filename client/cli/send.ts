import { refusals } from "../../core/messages.ts";
import { SessionRefusal } from "../../core/session-port.ts";
import type { SessionSummary } from "../session-client.ts";
import { CliError } from "./cli-error.ts";
import type { ServerFlags } from "./connect.ts";
import type { ExitCode } from "./exit-codes.ts";
import { followTurn } from "./follow-turn.ts";
import type { Host } from "./host.ts";
import { readPrompt } from "./read-prompt.ts";
import { createProgress, reportTurn } from "./turn-report.ts";
import { withSession } from "./with-session.ts";

/** Give a session its next message and follow the turn. Model, workspace and mode are the session's own; what is missing is started. */
export async function send(
  sessionId: string,
  argument: string,
  flags: ServerFlags,
  host: Host,
): Promise<ExitCode> {
  const prompt = await readPrompt(argument, process.stdin);
  return await withSession(sessionId, "turn", flags, host, async (opened) => {
    const { session, summary, worker, connected } = opened;
    const sent = session.send(prompt).catch((error) => {
      throw error instanceof SessionRefusal && error.code === refusals.turnRunning
        ? toBusyError(error, summary)
        : error;
    });
    const sending = Promise.race([sent, worker.failed]);
    const { turn } = await host.interruption.orElse(sending);
    host.output.event({ type: "turn", session: sessionId, turn, prompt });
    const ending = await followTurn({
      session,
      turn,
      host,
      progress: createProgress(host.output),
      onNoWorker: () => worker.start(),
      failed: worker.failed,
    });
    return reportTurn(ending, sessionId, connected, host.output);
  });
}

/** A turn whose command was killed waits for a worker, which is not to be seen from a refusal. */
function toBusyError(refusal: SessionRefusal, { sessionId, taskQueue }: SessionSummary): CliError {
  return new CliError(
    refusal.code,
    `${refusal.message}. See \`subagents show ${sessionId}\`, end it with \`subagents stop ${sessionId}\`; if its worker is gone, \`subagents worker --task-queue ${taskQueue}\` carries it on`,
  );
}
