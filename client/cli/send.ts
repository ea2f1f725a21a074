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
    const { session, worker, connected } = opened;
    const sending = Promise.race([session.send(prompt), worker.failed]);
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
