import { listLivingWorkers } from "../../worker/registry.ts";
import { mapBounded } from "../map-bounded.ts";
import { LOOKS_AT_ONCE } from "../session-calls.ts";
import type { SessionSummary } from "../session-client.ts";
import { type Connected, connect, type ServerFlags } from "./connect.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import type { Host } from "./host.ts";
import { toTable } from "./table.ts";

export interface SessionsFlags extends ServerFlags {
  open: boolean;
  limit: number;
}

const LOOK_PATIENCE_MS = 3000;

/** List sessions by the server's records: no worker is needed. */
export async function sessions(flags: SessionsFlags, host: Host): Promise<ExitCode> {
  const { output, interruption } = host;
  const connected = await interruption.orElse(connect(flags, host));
  try {
    const filter = { limit: flags.limit, ...(flags.open ? { isOpen: true } : {}) };
    const found = await interruption.orElse(connected.sessions.list(filter));
    const questions = await interruption.orElse(countQuestions(found, connected, host));
    for (const { startedAtMs, closedAtMs, sessionId, ...rest } of found) {
      output.event({
        type: "session",
        session: sessionId,
        ...rest,
        startedAt: new Date(startedAtMs).toISOString(),
        ...(questions.has(sessionId) ? { openQuestions: questions.get(sessionId) } : {}),
        ...(closedAtMs === undefined ? {} : { closedAt: new Date(closedAtMs).toISOString() }),
      });
    }
    if (found.length === 0) {
      const kind = flags.open ? "open session" : "session";
      output.print(
        `There is no ${kind} in namespace ${connected.lease.namespace} of ${connected.lease.address}. Begin one with: subagents run "..."`,
      );
      return exitCodes.completed;
    }
    const rows = found.map((session) => [
      session.sessionId,
      session.status,
      new Date(session.startedAtMs).toISOString().slice(0, 16).replace("T", " "),
      String(session.runningDelegates),
      String(questions.get(session.sessionId) || ""),
      session.prompt,
    ]);
    output.print(
      toTable([["session", "status", "started (UTC)", "running", "asks", "first message"], ...rows]),
    );
    return exitCodes.completed;
  } finally {
    await connected.release();
  }
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
