import { realpathSync } from "node:fs";
import path from "node:path";
import { listLivingWorkers } from "../../worker/registry.ts";
import { mapBounded } from "../map-bounded.ts";
import { LOOKS_AT_ONCE } from "../session-calls.ts";
import type { ListFilter, SessionSummary } from "../session-client.ts";
import { type Connected, connect, type ServerFlags } from "./connect.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import type { Host } from "./host.ts";
import type { JsonEvent } from "./output.ts";
import type { ToCommand } from "./own-command.ts";
import { MAX_LISTED } from "./session-filters.ts";
import { toTable } from "./table.ts";

export interface SessionsFlags extends ServerFlags {
  open: boolean;
  status?: string[];
  since?: number;
  until?: number;
  workspace?: string;
  agent?: string;
  taskQueue?: string;
  text?: string;
  limit: number;
}

const LOOK_PATIENCE_MS = 3000;

/** List sessions by the server's records: no worker is needed. */
export async function sessions(flags: SessionsFlags, host: Host): Promise<ExitCode> {
  const { output, interruption } = host;
  const connected = await interruption.orElse(connect(flags, host));
  try {
    const {
      sessions: found,
      more,
      isCutShort,
    } = await interruption.orElse(connected.sessions.find(toFilter(flags)));
    const questions = await interruption.orElse(countQuestions(found, connected, host));
    for (const session of found) output.event(toEvent(session, questions));
    if (found.length === 0) output.print(toNothingText(flags, connected, output.toCommand));
    else output.print(toSessionTable(found, questions));
    if (more > 0 || isCutShort) output.event({ type: "more", more, isCutShort });
    if (more > 0) output.print(`and ${more} more: raise --limit, at most ${MAX_LISTED}, or ask for fewer`);
    if (isCutShort) output.print("The server has more than were looked at: ask for fewer, with --since say");
    return exitCodes.completed;
  } finally {
    await connected.release();
  }
}

function toFilter(flags: SessionsFlags): ListFilter {
  const { open, status, since, until, workspace, agent, taskQueue, text, limit } = flags;
  return {
    limit,
    ...(open ? { isOpen: true } : {}),
    ...(status === undefined ? {} : { statuses: status }),
    ...(since === undefined ? {} : { sinceMs: since }),
    ...(until === undefined ? {} : { untilMs: until }),
    ...(workspace === undefined ? {} : { workspace: toRealPath(workspace) }),
    ...(agent === undefined ? {} : { agent }),
    ...(taskQueue === undefined ? {} : { taskQueue }),
    ...(text === undefined ? {} : { text }),
  };
}

/** Sessions name their workspace by its real path; one that is gone by now is taken as it is written. */
function toRealPath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return path.resolve(folder);
  }
}

function toEvent(session: SessionSummary, questions: ReadonlyMap<string, number>): JsonEvent {
  const { startedAtMs, closedAtMs, sessionId, turn, ...rest } = session;
  return {
    type: "session",
    session: sessionId,
    ...rest,
    startedAt: new Date(startedAtMs).toISOString(),
    ...(turn === undefined ? {} : { turn }),
    ...(questions.has(sessionId) ? { openQuestions: questions.get(sessionId) } : {}),
    ...(closedAtMs === undefined ? {} : { closedAt: new Date(closedAtMs).toISOString() }),
  };
}

function toNothingText(
  { limit: _, json: __, ...flags }: SessionsFlags & { json?: boolean },
  connected: Connected,
  toCommand: ToCommand,
): string {
  const { namespace, address } = connected.lease;
  const { open, address: _address, namespace: _namespace, profile: _profile, ...filters } = flags;
  if (Object.values(filters).some((value) => value !== undefined))
    return `No session of namespace ${namespace} of ${address} is like that.`;
  return `There is no ${open ? "open session" : "session"} in namespace ${namespace} of ${address}. Begin one with: ${toCommand(["run"], '"..."')}`;
}

function toSessionTable(found: readonly SessionSummary[], questions: ReadonlyMap<string, number>): string {
  const rows = found.map((session) => [
    session.sessionId,
    session.status.replaceAll("_", " "),
    session.turn === undefined
      ? ""
      : `${session.turn.number} ${session.turn.code ?? session.turn.status.replaceAll("_", " ")}`,
    new Date(session.startedAtMs).toISOString().slice(0, 16).replace("T", " "),
    String(session.runningDelegates),
    String(questions.get(session.sessionId) || ""),
    session.prompt,
  ]);
  return toTable([
    ["session", "status", "last turn", "started (UTC)", "running", "asks", "first message"],
    ...rows,
  ]);
}

/**
 * Count the open questions of the sessions that a worker of this host serves; its answer is near. The server's own records don't tell them, and
 * a list must not wait for workers that may be gone.
 */
async function countQuestions(
  found: readonly SessionSummary[],
  connected: Connected,
  host: Host,
): Promise<Map<string, number>> {
  const workers = await listLivingWorkers(host.stateFolder);
  const queues = new Set(workers.map(({ taskQueue }) => taskQueue));
  const served = found.filter(({ status, taskQueue }) => status === "open" && queues.has(taskQueue));
  const deadline = AbortSignal.timeout(LOOK_PATIENCE_MS);
  const counts = await mapBounded(served, LOOKS_AT_ONCE, async ({ sessionId }) => {
    const view = await connected.sessions
      .get(sessionId)
      .view(deadline)
      .catch(() => undefined);
    return view?.questions.filter(({ state }) => state === "open").length;
  });
  return new Map(
    served.flatMap(({ sessionId }, index) => {
      const count = counts[index];
      return count === undefined ? [] : [[sessionId, count] as const];
    }),
  );
}
