import type { Connected } from "./connect.ts";
import { type ExitCode, exitCodes, toExitCode } from "./exit-codes.ts";
import type { TurnEnding } from "./follow-turn.ts";
import type { Output } from "./output.ts";
import type { ToCommand } from "./own-command.ts";
import { toResultEvent, toSummaryText } from "./summary.ts";

/** Our own dev server ends a moment after the last command that uses it. */
function toWebLine(web: string, { lease }: Connected, toCommand: ToCommand): string {
  return lease.isOurs
    ? `Temporal Web, while \`${toCommand(["dev"])}\` or another command runs: ${web}`
    : `Temporal Web: ${web}`;
}

/** Say how a turn ended, and what can be done next. The answer alone goes to standard output. */
export function reportTurn(
  ending: TurnEnding,
  sessionId: string,
  connected: Connected,
  output: Output,
  remarks: string[] = [],
): ExitCode {
  const { summary, isInterrupted } = ending;
  if (summary === undefined) {
    output.fail({
      code: "Interrupted",
      message: `interrupted; that the turn of ${sessionId} has ended could not be confirmed: see \`${output.toCommand(["show", sessionId])}\``,
      exitCode: exitCodes.interrupted,
    });
    return exitCodes.interrupted;
  }
  if (summary.turn.answer !== "") output.print(summary.turn.answer);
  const web = connected.toWebAddress(sessionId);
  const next = [
    ...remarks,
    ...(web === undefined ? [] : [toWebLine(web, connected, output.toCommand)]),
    ...toNextLines(ending, sessionId, output),
  ];
  output.say(`\n${toSummaryText(summary)}\n\n${next.join("\n")}`);
  output.event(toResultEvent(summary));
  return isInterrupted ? exitCodes.interrupted : toExitCode(summary.turn.status);
}

function toNextLines({ session }: TurnEnding, sessionId: string, { toCommand }: Output): string[] {
  switch (session) {
    case "open":
      return [`The session is open. Go on with: ${toCommand(["send", sessionId], '"..."')}`];
    case "over":
      return [
        `The session is over: it takes no further message. What happened: ${toCommand(["show", sessionId])}`,
      ];
    case "deleted":
      return ["The session is not on the server any more."];
  }
}
