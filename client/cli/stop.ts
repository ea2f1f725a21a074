import { randomUUID } from "node:crypto";
import type { StopOutcome } from "../../core/messages.ts";
import { toTaskStopText } from "../../core/task-list.ts";
import type { ServerFlags } from "./connect.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import type { Host } from "./host.ts";
import { type OpenedSession, withSession } from "./with-session.ts";

/** Stop some delegations of a session; without ids, abort its turn and close it. */
export async function stop(
  sessionId: string,
  delegationIds: string[],
  flags: ServerFlags,
  host: Host,
): Promise<ExitCode> {
  return await withSession(sessionId, "look", flags, host, async (opened) =>
    delegationIds.length > 0
      ? await stopDelegations(opened, delegationIds, host)
      : await closeSession(opened, host),
  );
}

async function stopDelegations({ session }: OpenedSession, ids: string[], host: Host): Promise<ExitCode> {
  const call = { input: { delegationIds: ids } };
  const { outcomes } = await host.interruption.orElse(session.taskStop(call, randomUUID()));
  for (const outcome of outcomes) host.output.event({ type: "stop", ...outcome });
  host.output.print(toTaskStopText(outcomes));
  return toStopExitCode(outcomes);
}

/** An id that is no delegation is a mistake in the call; a stop that is not confirmed yet has not ended anything. */
function toStopExitCode(outcomes: readonly StopOutcome[]): ExitCode {
  if (outcomes.some(({ outcome }) => outcome === "unknown" || outcome === "no-longer-kept"))
    return exitCodes.usage;
  return outcomes.some(({ outcome }) => outcome === "not-confirmed")
    ? exitCodes.endedEarly
    : exitCodes.completed;
}

async function closeSession({ session, summary }: OpenedSession, host: Host): Promise<ExitCode> {
  if (summary.status !== "open") {
    host.output.print(`${session.sessionId} is closed already (${summary.status}).`);
    host.output.event({ type: "closed", session: session.sessionId, already: true });
    return exitCodes.completed;
  }
  const { turn } = await host.interruption.orElse(session.abortTurn());
  await host.interruption.orElse(session.close());
  const aborted = turn === undefined ? "" : ` Turn ${turn} was aborted.`;
  host.output.print(`${session.sessionId} is closed.${aborted}`);
  host.output.event({ type: "closed", session: session.sessionId, ...(turn === undefined ? {} : { turn }) });
  return exitCodes.completed;
}
