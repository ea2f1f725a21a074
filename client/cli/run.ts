import { toModelLabel } from "../../core/definition.ts";
import type { SessionInput } from "../../core/session.ts";
import { toSessionFolder } from "../../core/state-folder.ts";
import { findModelProblem } from "../../worker/model-check.ts";
import { createSessionId } from "../session-client.ts";
import type { SessionHandle } from "../session-handle.ts";
import { CliError } from "./cli-error.ts";
import { type CommandTrace, traceCommand } from "./command-trace.ts";
import { type Connected, connect, type ServerFlags } from "./connect.ts";
import { createProgress, toUsualQuestions } from "./create-progress.ts";
import { chooseTaskQueue, hasLivingWorker } from "./ensure-worker.ts";
import { prepareExample } from "./example.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { followTurn } from "./follow-turn.ts";
import type { Host } from "./host.ts";
import type { ToCommand } from "./own-command.ts";
import { readPrompt } from "./read-prompt.ts";
import { listWarnings, type SessionFlags, toSessionInput } from "./session-flags.ts";
import { createSessionWorker } from "./session-worker.ts";
import { reportTurn } from "./turn-report.ts";
import { startDetachedWorker, type WorkerSettings } from "./worker-process.ts";

export interface RunFlags extends SessionFlags, ServerFlags {
  taskQueue?: string;
  detach: boolean;
  example: boolean;
  telemetry: boolean;
}

/** What was asked for. */
interface Order {
  prompt: string;
  input: Omit<SessionInput, "hasSearchAttributes">;
  flags: RunFlags;
  remarks: string[];
  trace: CommandTrace;
}

/** A session about to begin. */
interface Plan extends Order {
  sessionId: string;
  taskQueue: string;
  input: SessionInput;
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
  const remarks = toRemarks(input, example?.workspace, host.output.toCommand);
  return await traceCommand("run", flags.telemetry, host, (trace) =>
    carryOut({ prompt, input, flags, remarks, trace }, host),
  );
}

async function carryOut(order: Order, host: Host): Promise<ExitCode> {
  const { flags, input } = order;
  const connected = await host.interruption.orElse(connect(flags, host));
  try {
    const sessionId = createSessionId();
    order.trace.setSession(sessionId);
    const plan: Plan = {
      ...order,
      sessionId,
      taskQueue: await chooseTaskQueue(flags.taskQueue, sessionId, connected, host),
      input: { ...input, hasSearchAttributes: connected.lease.hasSearchAttributes },
    };
    return flags.detach ? await runDetached(plan, connected, host) : await runHere(plan, connected, host);
  } finally {
    await connected.release();
  }
}

async function runHere(plan: Plan, connected: Connected, host: Host): Promise<ExitCode> {
  const { sessionId, flags } = plan;
  const session = connected.sessions.get(sessionId);
  const progress = createProgress({ session, questions: flags.questions ?? "deny", host });
  const worker = createSessionWorker(toWorkerSettings(plan, connected), progress.note);
  try {
    const isServed = await hasLivingWorker(plan.taskQueue, connected, host);
    if (!isServed) await host.interruption.orElse(worker.start());
    await startSession(plan, connected, host);
    const { turn } = await host.interruption.orElse(Promise.race([sendPrompt(session, plan), worker.failed]));
    host.output.event({ type: "turn", session: sessionId, turn, prompt: plan.prompt });
    const ending = await followTurn({
      session,
      turn,
      host,
      progress,
      onNoWorker: () => worker.start(),
      failed: worker.failed,
    });
    const exitCode = reportTurn(ending, sessionId, connected, host.output, plan.remarks);
    // While the worker ends: the two have a second each to send what they traced.
    void plan.trace.end(exitCode);
    return exitCode;
  } finally {
    progress.end();
    await worker.stop();
  }
}

async function runDetached(plan: Plan, connected: Connected, host: Host): Promise<ExitCode> {
  const { sessionId, taskQueue } = plan;
  const session = await startSession(plan, connected, host);
  if (await hasLivingWorker(taskQueue, connected, host)) {
    await sendPrompt(session, plan);
  } else {
    const logFile = `${toSessionFolder(host.stateFolder, sessionId).root}/worker.log`;
    const worker = startDetachedWorker(toWorkerSettings(plan, connected), sessionId, logFile);
    await host.interruption.orElse(Promise.race([sendPrompt(session, plan), worker.failed]));
    worker.letGo();
  }
  const { toCommand } = host.output;
  host.output.print(sessionId);
  host.output.say(
    [
      "It goes on in the background.",
      `See it with: ${toCommand(["watch", sessionId])}`,
      `Stop it with: ${toCommand(["stop", sessionId])}`,
    ].join("\n"),
  );
  host.output.event({ type: "detached", session: sessionId });
  return exitCodes.completed;
}

function toWorkerSettings({ taskQueue, flags }: Plan, { environment }: Connected): WorkerSettings {
  return { taskQueue, environment, profile: flags.profile, telemetry: flags.telemetry };
}

function sendPrompt(session: SessionHandle, { prompt, trace }: Plan): Promise<{ turn: number }> {
  return session.send(prompt, undefined, trace.context);
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
function toRemarks(
  input: Omit<SessionInput, "hasSearchAttributes">,
  copy: string | undefined,
  toCommand: ToCommand,
): string[] {
  const scripted =
    input.model.kind === "script"
      ? [
          `The model's words were scripted (${input.model.file}); the tools and files were real. With a model: ${toCommand(["run", "--model", "PROVIDER/MODEL"], '"..."')}`,
        ]
      : [];
  return [...scripted, ...(copy === undefined ? [] : [`The example's changed copy: ${copy}`])];
}
