import { constants } from "node:os";
import type { CommandEnding, CommandOutcome } from "./command.ts";
import type { KeptOutput } from "./command-output-file.ts";

/** Say how a command ended, then what it printed. An ordinary end says nothing of itself. */
export function toCommandText(outcome: CommandOutcome, timeoutSeconds: number, note?: string): string {
  const remarks = [
    toEndingRemark(outcome.ending, timeoutSeconds),
    toProcessRemark(outcome),
    ...toOutputRemarks(outcome.output),
    note,
  ].filter((remark) => remark !== undefined);
  const isCut = outcome.ending.kind === "timed-out" || outcome.ending.kind === "stopped";
  const nothing = isCut ? "(no output until then)" : "(no output)";
  const printed = outcome.output.text === "" ? nothing : outcome.output.text;
  return remarks.length === 0 ? printed : `${remarks.join("\n")}\n\n${printed}`;
}

function toEndingRemark(ending: CommandEnding, timeoutSeconds: number): string | undefined {
  switch (ending.kind) {
    case "exited":
      return ending.code === 0 ? undefined : `Exit code ${ending.code}${toSignalHint(ending.code)}.`;
    case "killed":
      return `The shell was ended by signal ${ending.signal}.`;
    case "timed-out":
      return `Timed out after ${timeoutSeconds} s. The command was ended with all its processes; what it had done by then stays.`;
    case "stopped":
      return "Stopped: the command was ended with all its processes; what it had done by then stays.";
  }
}

/** A shell answers 128 and the signal's number for a program that a signal ended. */
function toSignalHint(code: number): string {
  const name = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
  return name === undefined ? "" : ` (128 + ${name}: most likely this signal ended a program)`;
}

function toProcessRemark({ ending, processes }: CommandOutcome): string | undefined {
  const { ended, left } = processes;
  if (left > 0) {
    const what = left === 1 ? "1 process" : `${left} processes`;
    return `${what} could not be ended (stuck in the kernel, or another user's) and may still be running.`;
  }
  const isByItself = ending.kind === "exited" || ending.kind === "killed";
  if (ended === 0 || !isByItself) return undefined;
  const what = ended === 1 ? "1 background process was" : `${ended} background processes were`;
  return `${what} still running when the shell ended, and ended with it: nothing outlives its command.`;
}

function toOutputRemarks(output: KeptOutput): (string | undefined)[] {
  const { isBinary, totalBytes, file, storedBytes, storeProblem } = output;
  const binary = isBinary
    ? `The output is binary: ${totalBytes} bytes, of which the beginning is shown.`
    : undefined;
  const problem =
    storeProblem === undefined ? undefined : `The full output could not be stored: ${storeProblem}.`;
  if (file === undefined) return [binary, problem];
  const share = storedBytes < totalBytes ? `the first ${storedBytes} of ${totalBytes}` : `all ${totalBytes}`;
  return [binary, `The output is too long to be shown whole: ${share} bytes lie in ${file}`, problem];
}
