import { CommanderError } from "commander";
import { toFailure } from "./cli-error.ts";
import { exitCodes } from "./exit-codes.ts";
import { findStateFolder, Interrupted, listenForInterruption } from "./host.ts";
import { createOutput, type Output } from "./output.ts";
import { createToCommand } from "./own-command.ts";
import { type Action, createProgram } from "./program.ts";

/** Carry out a command line and give its exit code. Everything that can go wrong becomes one line that says what to do. */
async function main(words: string[], hasReader: () => boolean): Promise<number> {
  const output = createOutput({
    isJson: words.includes("--json"),
    stdout: process.stdout,
    stderr: process.stderr,
    toCommand: createToCommand(words, process.env),
    hasReader,
  });
  const interruption = listenForInterruption(() => process.exit(exitCodes.interrupted));
  try {
    const action = await chooseAction(words, output);
    if (typeof action === "number") return action;
    const { env: environment } = process;
    return await action({ environment, stateFolder: findStateFolder(environment), output, interruption });
  } catch (error) {
    if (error instanceof Interrupted) {
      output.fail({ code: "Interrupted", message: "interrupted", exitCode: exitCodes.interrupted });
      return exitCodes.interrupted;
    }
    const failure = toFailure(error);
    const isDebugging = Boolean(process.env.SUBAGENTS_DEBUG) && error instanceof Error;
    output.fail(failure, isDebugging ? error.stack : undefined);
    return failure.exitCode;
  }
}

/** Read the command line; an exit code if there is nothing to carry out. */
async function chooseAction(words: string[], output: Output): Promise<Action | number> {
  let chosen: Action | undefined;
  const program = createProgram((action) => {
    chosen = action;
  });
  for (const command of [program, ...program.commands]) {
    command.exitOverride();
    // With --json the one line that `fail` writes is all; commander's own would not be JSON.
    command.configureOutput({ writeErr: (text) => void (output.isJson || process.stderr.write(text)) });
  }
  try {
    await program.parseAsync(words, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help that was asked for is no mistake.
    if (error.exitCode === 0) return exitCodes.completed;
    if (output.isJson) {
      const message = error.message.replace(/^error: /, "");
      output.fail({ code: "Usage.Invalid", message, exitCode: exitCodes.usage });
    }
    return exitCodes.usage;
  }
  return chosen ?? exitCodes.usage;
}

/** Carry out the command line of this process, and give its exit code once everything has been written. */
export async function runCommandLine(words: string[]): Promise<number> {
  // A reader that has gone, `head` say, is no fault of the command.
  let hasReader = true;
  const { stdout, stderr } = process;
  for (const stream of [stdout, stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") endUnwritten(error, stderr);
      if (stream === stdout) hasReader = false;
    });
  }
  const exitCode = await main(words, () => hasReader);
  // What still runs here, a worker's native threads say, must not keep the process; what was written must get out first.
  await Promise.all([stdout, stderr].map((stream) => new Promise((resolve) => stream.write("", resolve))));
  return exitCode;
}

/** A full disk, say: what was asked for can't be told. */
function endUnwritten(error: Error, stderr: NodeJS.WriteStream): never {
  stderr.write(`subagents: the output can't be written: ${error.message}\n`);
  process.exit(exitCodes.failed);
}
