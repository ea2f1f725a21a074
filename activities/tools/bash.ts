import { randomUUID } from "node:crypto";
import { access, constants, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { z } from "zod";
import { BASH_TIMEOUT_SECONDS } from "../../core/limits.ts";
import { encodeFileName } from "../../core/state-folder.ts";
import { toOneLine } from "../../core/text.ts";
import { type CommandOutcome, runCommand } from "./command.ts";
import { toToolEnvironment } from "./command-environment.ts";
import { toCommandText } from "./command-text.ts";
import { toTimeout } from "./command-timeout.ts";
import type { Tool, ToolContext, ToolResult } from "./tool.ts";

/** Linux refuses a single argument of 128 KiB and more. */
const MAX_COMMAND_BYTES = 128 * 1024 - 1;
const MAX_TARGET_CHARACTERS = 500;
const standardPath = "/usr/local/bin:/usr/bin:/bin";

const input = z.object({
  command: z.string().describe("What bash is to run; several lines are allowed."),
  timeoutSeconds: z
    .preprocess(toNumber, z.number().optional())
    .describe(`Time after which the command is ended, in seconds. Default ${BASH_TIMEOUT_SECONDS}.`),
});

const description = `Run a command with bash in the workspace folder and read what it prints and its exit code.
- Each call is a new shell: folder, variables and functions of an earlier call are gone; files stay.
- Nobody can answer it: there is no terminal, its input is empty, and an editor opens nothing. Give every answer as an argument (\`git commit -m\`, \`-y\`).
- It may run for ${BASH_TIMEOUT_SECONDS} seconds unless timeoutSeconds says otherwise; then it is ended, and you get what it printed so far.
- When it has ended, everything it left running in the background is ended too. To use a server, start it, use it and stop it in one command.
- You see the first 10 KB and the last 20 KB of its output, errors included in the order written; more than that lies in a file that the answer names.
- It is not a sandbox: it can do all that the user who runs the worker can. Prefer Read, Glob, Grep, Edit and Write for files.`;

/** Models send numbers as text now and then. */
function toNumber(value: unknown): unknown {
  return typeof value === "string" && value.trim() !== "" ? Number(value) : value;
}

/** Make the Bash tool for a worker with this environment. */
export function createBashTool(
  toEnvironment: () => Readonly<Record<string, string | undefined>> = () => process.env,
): Tool<typeof input> {
  return {
    name: "Bash",
    description,
    input,
    execute: (wish, context, signal) => execute(wish, context, signal, toEnvironment()),
    toTarget: ({ command }) => toOneLine(command, MAX_TARGET_CHARACTERS),
  };
}

async function execute(
  { command, timeoutSeconds }: z.infer<typeof input>,
  context: ToolContext,
  signal: AbortSignal,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<ToolResult> {
  const timeout = toTimeout(timeoutSeconds, BASH_TIMEOUT_SECONDS, context.maxSeconds);
  if ("problem" in timeout) return toRefusal(timeout.problem);
  const path = environment.PATH ?? standardPath;
  const bash = await findBash(path);
  const problem = toCommandProblem(command) ?? (await toPlaceProblem(bash, path, context.workspace));
  if (problem !== undefined || bash === undefined) return toRefusal(problem ?? "");
  if (signal.aborted) return toRefusal("The run was stopped before the command started; nothing was run.");
  const mark = randomUUID();
  const marker = { run: context.runMarker, call: context.callId, command: mark };
  try {
    const outcome = await runCommand(
      {
        bash,
        command,
        folder: context.workspace,
        environment: toToolEnvironment({ ...environment, PATH: path }, marker, context.trace),
        mark,
        timeoutMs: timeout.seconds * 1000,
        outputs: context.outputs,
        outputPath: join(context.outputs, toOutputName(context.callId, mark)),
      },
      signal,
    );
    return toResult(outcome, timeout.seconds, timeout.note);
  } catch (error) {
    return toRefusal(`The command could not be started: ${error instanceof Error ? error.message : error}`);
  }
}

function toResult(outcome: CommandOutcome, seconds: number, note: string | undefined): ToolResult {
  const isError = outcome.ending.kind !== "exited" || outcome.ending.code !== 0;
  return { text: toCommandText(outcome, seconds, note), isError };
}

function toRefusal(text: string): ToolResult {
  return { text: text.toWellFormed(), isError: true };
}

function toCommandProblem(command: string): string | undefined {
  if (command.trim() === "") return "The command is empty.";
  if (command.includes("\0")) return "The command holds a NUL character, which no shell can be given.";
  const bytes = Buffer.byteLength(command);
  if (bytes <= MAX_COMMAND_BYTES) return undefined;
  return `The command has ${bytes} bytes; at most ${MAX_COMMAND_BYTES} are possible. Put it into a file with Write, and run that.`;
}

async function toPlaceProblem(
  bash: string | undefined,
  path: string,
  workspace: string,
): Promise<string | undefined> {
  if (bash === undefined) return `There is no bash on this worker's PATH (${path}).`;
  const place = await stat(workspace).catch(() => undefined);
  return place?.isDirectory() ? undefined : `The workspace ${workspace} is no folder (any more).`;
}

async function findBash(path: string): Promise<string | undefined> {
  // A relative entry would be taken from whatever folder the worker runs in.
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    const candidate = join(folder, "bash");
    const isExecutable = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable && (await stat(candidate)).isFile()) return candidate;
  }
  return undefined;
}

function toOutputName(callId: string, mark: string): string {
  return `bash-${encodeFileName(callId).slice(0, 60)}-${mark.slice(0, 8)}.txt`;
}
