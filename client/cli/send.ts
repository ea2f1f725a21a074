import { refusals } from "../../core/messages.ts";
import { SessionRefusal } from "../../core/session-port.ts";
import type { SessionSummary } from "../session-client.ts";
import type { SessionHandle } from "../session-handle.ts";
import { CliError } from "./cli-error.ts";
import { type CommandTrace, traceCommand } from "./command-trace.ts";
import type { ServerFlags } from "./connect.ts";
import { createProgress, toUsualQuestions } from "./create-progress.ts";
import type { ExitCode } from "./exit-codes.ts";
import { followTurn } from "./follow-turn.ts";
import type { Host } from "./host.ts";
import type { ToCommand } from "./own-command.ts";
import type { QuestionChoice } from "./questions.ts";
import { readPrompt } from "./read-prompt.ts";
import { reportTurn } from "./turn-report.ts";
import { withSession } from "./with-session.ts";

export interface SendFlags extends ServerFlags {
  questions?: QuestionChoice;
  telemetry: boolean;
}

/** Give a session its next message and follow the turn. Model, workspace and mode are the session's own; what is missing is started. */
export async function send(
  sessionId: string,
  argument: string,
  flags: SendFlags,
  host: Host,
): Promise<ExitCode> {
  const prompt = await readPrompt(argument, process.stdin);
  return await traceCommand("send", flags.telemetry, host, async (trace) => {
    trace.setSession(sessionId);
    return await sendPrompt({ sessionId, prompt, flags, trace }, host);
  });
}

interface Order {
  sessionId: string;
  prompt: string;
  flags: SendFlags;
  trace: CommandTrace;
}

async function sendPrompt({ sessionId, prompt, flags, trace }: Order, host: Host): Promise<ExitCode> {
  return await withSession(sessionId, "turn", flags, host, async (opened) => {
    const { session, summary, worker, connected } = opened;
    const sent = session.send(prompt, undefined, trace.context).catch((error) => {
      throw error instanceof SessionRefusal && error.code === refusals.turnRunning
        ? toBusyError(error, summary, host.output.toCommand)
        : error;
    });
    if (flags.questions === "wait") await warnOfMute(session, host);
    const sending = Promise.race([sent, worker.failed]);
    const { turn } = await host.interruption.orElse(sending);
    host.output.event({ type: "turn", session: sessionId, turn, prompt });
    const ending = await followTurn({
      session,
      turn,
      host,
      progress: createProgress({
        session,
        questions: flags.questions ?? toUsualQuestions(host.output),
        host,
      }),
      onNoWorker: () => worker.start(),
      failed: worker.failed,
    });
    const exitCode = reportTurn(ending, sessionId, connected, host.output);
    // While the worker ends: the two have a second each to send what they traced.
    void trace.end(exitCode);
    return exitCode;
  });
}

/** A turn whose command was killed waits for a worker, which is not to be seen from a refusal. */
function toBusyError(
  refusal: SessionRefusal,
  { sessionId, taskQueue }: SessionSummary,
  toCommand: ToCommand,
): CliError {
  return new CliError(
    refusal.code,
    `${refusal.message}. See \`${toCommand(["show", sessionId])}\`, end it with \`${toCommand(["stop", sessionId])}\`; if its worker is gone, \`${toCommand(["worker", "--task-queue", taskQueue])}\` carries it on`,
  );
}

/** Whether somebody can be asked is settled when a session begins. */
async function warnOfMute(session: SessionHandle, host: Host): Promise<void> {
  const view = await host.interruption.orElse(session.view()).catch(() => undefined);
  if (view === undefined || view.input.canAsk) return;
  const message = "this session was begun without anybody to ask: calls that need permission are denied";
  host.output.say(`warning: ${message}`);
  host.output.event({ type: "warning", message });
}
