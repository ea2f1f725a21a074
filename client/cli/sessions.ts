import { connect, type ServerFlags } from "./connect.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import type { Host } from "./host.ts";
import { toTable } from "./table.ts";

export interface SessionsFlags extends ServerFlags {
  open: boolean;
  limit: number;
}

/** List sessions by the server's records alone: no worker is needed. */
export async function sessions(flags: SessionsFlags, host: Host): Promise<ExitCode> {
  const { output, interruption } = host;
  const connected = await interruption.orElse(connect(flags, host));
  try {
    const filter = { limit: flags.limit, ...(flags.open ? { isOpen: true } : {}) };
    const found = await interruption.orElse(connected.sessions.list(filter));
    for (const { startedAtMs, closedAtMs, sessionId, ...rest } of found) {
      output.event({
        type: "session",
        session: sessionId,
        ...rest,
        startedAt: new Date(startedAtMs).toISOString(),
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
      session.prompt,
    ]);
    output.print(toTable([["session", "status", "started (UTC)", "running", "first message"], ...rows]));
    return exitCodes.completed;
  } finally {
    await connected.release();
  }
}
