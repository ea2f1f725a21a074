import { condition } from "@temporalio/workflow";
import type { AgentRunInput } from "../core/agent-run.ts";
import { type Definition, type ModelSource, toModelLabel } from "../core/definition.ts";
import { createDelegation, toElapsedSeconds } from "../core/delegation.ts";
import { RUNNING_CAP } from "../core/limits.ts";
import { refusals, type TaskCall, type TaskStarted } from "../core/messages.ts";
import { nearestName, normalizeAgentName } from "../core/names.ts";
import { describeProblems, type TaskInput, taskInputSchema } from "../core/task-calls.ts";
import { readTraceContext } from "../core/trace-context.ts";
import type { Delegations } from "./delegations.ts";
import { checkUpdates, KEY_TOO_LONG, MAX_KEY_CHARACTERS, refuse } from "./refuse.ts";
import { findDelegation, listRunning, type SessionContext } from "./session-context.ts";

/** Check a Task call before it is accepted. @throws ApplicationFailure with a type of {@link refusals}. */
export function validateTask(session: SessionContext, call: TaskCall): void {
  if (findByCallKey(session, call.callKey) !== undefined) return;
  if (call.callKey !== undefined && call.callKey.length > MAX_KEY_CHARACTERS)
    refuse(refusals.badInput, KEY_TOO_LONG);
  checkUpdates(session);
  const input = parseTask(call.input);
  if (session.isClosing) refuse(refusals.closing, "the session is closing: nothing new can be started");
  if (session.input.contract !== undefined) {
    refuse(
      refusals.contractMode,
      `Task is not available in ${session.input.contract} mode: do the work yourself with the reading tools`,
    );
  }
  checkTurn(session, call);
  // Right after a session's start its definitions are still being read: the handler waits for them.
  if (session.catalogueReadAtMs !== undefined) findModel(session, findDefinition(session, input));
  checkCap(session);
}

function checkCap(session: SessionContext): void {
  const running = listRunning(session);
  if (running.length >= RUNNING_CAP) {
    const list = running.map(
      (record) => `${record.id} (${record.agent}, ${Math.round(toElapsedSeconds(record, Date.now()))}s)`,
    );
    refuse(
      refusals.capReached,
      `${RUNNING_CAP} delegates already run: ${list.join(", ")}. Wait for one with TaskWait or stop one with TaskStop first.`,
    );
  }
}

/** Record a delegation and start it. Answers at once; a repeated call key gets the delegation that it started the first time. */
export async function handleTask(
  session: SessionContext,
  delegations: Delegations,
  call: TaskCall,
): Promise<TaskStarted> {
  if (session.catalogueReadAtMs === undefined) {
    await condition(() => session.catalogueReadAtMs !== undefined);
    validateTask(session, call);
  }
  return startTask(session, delegations, call);
}

function startTask(session: SessionContext, delegations: Delegations, call: TaskCall): TaskStarted {
  const known = findByCallKey(session, call.callKey);
  if (known !== undefined)
    return { delegationId: known.id, agent: known.agent, model: known.model, tools: known.tools, notes: [] };

  const input = parseTask(call.input);
  const definition = findDefinition(session, input);
  const model = findModel(session, definition);
  const resumed = input.resume ? findDelegation(session, input.resume) : undefined;
  session.state.lastDelegation += 1;
  const delegation = createDelegation({
    number: session.state.lastDelegation,
    agent: definition.name,
    description: input.description ?? "",
    callKey: call.callKey,
    resumedFrom: resumed?.id,
    definitionFingerprint: toFingerprint(definition),
    model: toModelLabel(model),
    tools: definition.tools,
    nowMs: Date.now(),
  });
  session.state.delegations.push(delegation);
  delegations.start(delegation, toDelegateRun(session, call, input, definition, model, delegation.id));
  const isSameAgent = resumed?.agent === delegation.agent;
  const hasChanged =
    isSameAgent &&
    resumed !== undefined &&
    resumed.definitionFingerprint !== delegation.definitionFingerprint;
  return {
    delegationId: delegation.id,
    agent: delegation.agent,
    model: delegation.model,
    tools: delegation.tools,
    notes: hasChanged
      ? [`The definition of ${definition.name} has changed since ${resumed.id} ran; the present one is used.`]
      : [],
  };
}

function parseTask(input: unknown): TaskInput {
  const parsed = taskInputSchema.safeParse(input);
  return parsed.success ? parsed.data : refuse(refusals.badInput, `Task: ${describeProblems(parsed.error)}`);
}

function findByCallKey(session: SessionContext, callKey: string | undefined) {
  return callKey === undefined
    ? undefined
    : session.state.delegations.find((record) => record.callKey === callKey);
}

function checkTurn(session: SessionContext, call: TaskCall): void {
  if (call.turn === undefined) return;
  const active = session.activeTurn;
  if (active === undefined || active.number !== call.turn || active.isEnding || active.isAborted) {
    refuse(refusals.turnOver, `turn ${call.turn} is over: nothing was started`);
  }
}

function findDefinition(session: SessionContext, input: TaskInput): Definition {
  const resumed = input.resume ? findResumable(session, input.resume) : undefined;
  const asked = normalizeAgentName(input.agent?.trim() ? input.agent : (resumed?.agent ?? ""));
  const found = session.state.catalogue.find((definition) => definition.name === asked);
  if (found !== undefined) return found;
  const names = session.state.catalogue.map((definition) => definition.name);
  const near = nearestName(asked, names);
  const hint = near === undefined ? "" : ` Did you mean ${near}?`;
  const fault =
    session.catalogueFault === undefined
      ? ""
      : ` (the definitions could not be read: ${session.catalogueFault})`;
  const list = names.length === 0 ? `No agents are defined${fault}.` : `Valid agents: ${names.join(", ")}.`;
  return refuse(
    refusals.unknownAgent,
    `unknown agent ${JSON.stringify((input.agent ?? "").slice(0, 100))}.${hint} ${list}`,
  );
}

function findResumable(session: SessionContext, id: string) {
  const record = findDelegation(session, id);
  if (record === undefined)
    return refuse(
      refusals.cannotResume,
      `cannot resume ${JSON.stringify(id.slice(0, 100))}: it is unknown or no longer kept`,
    );
  if (record.status === "running")
    return refuse(refusals.cannotResume, `cannot resume ${id}: it is still running`);
  return record;
}

function findModel(session: SessionContext, definition: Definition): ModelSource {
  if (definition.model === undefined) return session.input.model;
  if (definition.model.kind !== "unresolved") return definition.model;
  const { pin, reason } = definition.model;
  return refuse(
    refusals.unresolvedModel,
    `${definition.name} asks for model ${JSON.stringify(pin)} (${definition.file}), which cannot be resolved: ${reason}`,
  );
}

function toFingerprint(definition: Definition): string {
  return `${definition.promptSha256}:${definition.tools.join(",")}:${definition.permission}`;
}

function toDelegateRun(
  session: SessionContext,
  call: TaskCall,
  task: TaskInput,
  definition: Definition,
  model: ModelSource,
  id: string,
): AgentRunInput {
  const { input } = session;
  const thinkingLevel = definition.thinkingLevel ?? input.thinkingLevel;
  const trace = readTraceContext(call.trace);
  return {
    role: "delegate",
    sessionId: session.id,
    chain: id,
    runId: id,
    agent: definition.name,
    turn: call.turn ?? 0,
    prompt: task.task,
    ...(task.resume ? { resumeFrom: task.resume } : {}),
    workspace: input.workspace,
    model,
    ...(thinkingLevel === undefined ? {} : { thinkingLevel }),
    instructions: { sha256: definition.promptSha256, file: definition.file },
    tools: definition.tools,
    catalogue: [],
    permission: {
      mode: session.state.permissionMode,
      scope: definition.permission,
      ...(input.contract === undefined ? {} : { contract: input.contract }),
      canAsk: input.canAsk,
    },
    limits: {
      idleSeconds: definition.idleTimeoutSeconds ?? input.limits.idleSeconds,
      maxDurationSeconds: definition.maxDurationSeconds ?? input.limits.maxDurationSeconds,
      ...(definition.maxTurns === undefined ? {} : { maxTurns: definition.maxTurns }),
    },
    watchdog: input.watchdog,
    ...(trace === undefined ? {} : { trace }),
  };
}
