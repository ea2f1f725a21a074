import { toModelLabel } from "../../core/definition.ts";
import type { SessionInput } from "../../core/session.ts";
import { toSessionFolder } from "../../core/state-folder.ts";
import { findModelProblem } from "../../worker/model-check.ts";
import { createSessionId } from "../session-client.ts";
import type { SessionHandle } from "../session-handle.ts";
import { CliError } from "./cli-error.ts";
import { type Connected, connect, type ServerFlags } from "./connect.ts";
import { createProgress, toUsualQuestions } from "./create-progress.ts";
import { chooseTaskQueue, hasLivingWorker } from "./ensure-worker.ts";
import { prepareExample } from "./example.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { followTurn } from "./follow-turn.ts";
import type { Host } from "./host.ts";
import { readPrompt } from "./read-prompt.ts";
import { listWarnings, type SessionFlags, toSessionInput } from "./session-flags.ts";
import { createSessionWorker } from "./session-worker.ts";
import { reportTurn } from "./turn-report.ts";
import { startDetachedWorker } from "./worker-process.ts";

export interface RunFlags extends SessionFlags, ServerFlags {
  taskQueue?: string;
  detach: boolean;
  example: boolean;
}

/** A session about to begin. */
interface Plan {
  sessionId: string;
  taskQueue: string;
  prompt: string;
  input: SessionInput;
  flags: RunFlags;
  remarks: string[];
}

/** Hold a session of one turn, starting what is missing: a server, a worker. The session stays open for `send`. */
export async function run(argument: string | undefined, given: RunFlags, host: Host): Promise<ExitCode> {
  const example = given.example ? prepareExample(given) : undefined;
  const usualQuestions = given.detach ? "deny" : toUsualQuestions(host.output);
  const flags = { questions: usualQuestions, ...(example?.flags ?? given) };
  const prompt = await readPrompt(argument ?? example?.prompt, process.stdin);
  const input = toSessionInput(flags, host.environment);
  for (const warning of listWarnings(input)) {
    host.output.say(`warning: ${warning}`);
    host.output.event({ type: "warning", message: warning });
  }
  // What can't be used is refused before anything is started.
  const problem = await findModelProblem(input.model);
  if (problem !== undefined)
    throw new CliError(input.model.kind === "script" ? "Usage.Script" : "Usage.Model", problem);
  const connected = await host.interruption.orElse(connect(flags, host));
  try {
    const sessionId = createSessionId();
    const plan: Plan = {
      sessionId,
      taskQueue: await chooseTaskQueue(flags.taskQueue, sessionId, connected, host),
      prompt,
      input: { ...input, hasSearchAttributes: connected.lease.hasSearchAttributes },
      flags,
      remarks: toRemarks(input, example?.workspace),
    };
    return flags.detach ? await runDetached(plan, connected, host) : await runHere(plan, connected, host);
  } finally {
    await connected.release();
  }
}

async function runHere(plan: Plan, connected: Connected, host: Host): Promise<ExitCode> {
  const { sessionId, taskQueue, prompt, flags } = plan;
  const session = connected.sessions.get(sessionId);
  const progress = createProgress({ session, questions: flags.questions ?? "deny", host });
  const settings = { taskQueue, environment: connected.environment, profile: flags.profile };
  const worker = createSessionWorker(settings, progress.note);
  try {
    const isServed = await hasLivingWorker(taskQueue, connected, host);
    if (!isServed) await host.interruption.orElse(worker.start());
    await startSession(plan, connected, host);
    const { turn } = await host.interruption.orElse(Promise.race([session.send(prompt), worker.failed]));
    host.output.event({ type: "turn", session: sessionId, turn, prompt });
    const ending = await followTurn({
      session,
      turn,
      host,
      progress,
      onNoWorker: () => worker.start(),
      failed: worker.failed,
    });
    return reportTurn(ending, sessionId, connected, host.output, plan.remarks);
  } finally {
    progress.end();
    await worker.stop();
  }
}

async function runDetached(plan: Plan, connected: Connected, host: Host): Promise<ExitCode> {
  const { sessionId, taskQueue, prompt, flags } = plan;
  const session = await startSession(plan, connected, host);
  if (await hasLivingWorker(taskQueue, connected, host)) {
    await session.send(prompt);
  } else {
    const logFile = `${toSessionFolder(host.stateFolder, sessionId).root}/worker.log`;
    const settings = { taskQueue, environment: connected.environment, profile: flags.profile };
    const worker = startDetachedWorker(settings, sessionId, logFile);
    await host.interruption.orElse(Promise.race([session.send(prompt), worker.failed]));
    worker.letGo();
  }
  host.output.print(sessionId);
  host.output.say(
    [
      "It goes on in the background.",
      `See it with: subagents watch ${sessionId}`,
      `Stop it with: subagents stop ${sessionId}`,
    ].join("\n"),
  );
  host.output.event({ type: "detached", session: sessionId });
  return exitCodes.completed;
}

async function startSession(plan: Plan, connected: Connected, host: Host): Promise<SessionHandle> {
  const { sessionId, taskQueue, prompt, input } = plan;
  const session = await connected.sessions.start(input, { sessionId, taskQueue, prompt });
  const web = connected.toWebAddress(sessionId);
  host.output.say(`${sessionId} in ${input.workspace}, ${toModelLabel(input.model)}${web ? `\n${web}` : ""}`);
  host.output.event({
    type: "session",
    session: sessionId,
    workspace: input.workspace,
    model: toModelLabel(input.model),
    permission: input.permissionMode,
    taskQueue,
    address: connected.lease.address,
    namespace: connected.lease.namespace,
    ...(web === undefined ? {} : { web }),
  });
  return session;
}

/** What a person should know at the end. */
function toRemarks(input: Omit<SessionInput, "hasSearchAttributes">, copy: string | undefined): string[] {
  const scripted =
    input.model.kind === "script"
      ? [
          `The model's words were scripted (${input.model.file}); the tools and files were real. With a model: subagents run --model PROVIDER/MODEL "..."`,
        ]
      : [];
  return [...scripted, ...(copy === undefined ? [] : [`The example's changed copy: ${copy}`])];
}
