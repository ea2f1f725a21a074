import { setTimeout as sleep } from "node:timers/promises";
import { toOneLine } from "../../core/text.ts";
import type { SessionSummary } from "../session-client.ts";
import { CliError } from "./cli-error.ts";
import { type Connected, connect, type ServerFlags } from "./connect.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import type { Host } from "./host.ts";
import type { ToCommand } from "./own-command.ts";
import { createWatchDisplay, type WatchDisplay } from "./watch-display.ts";
import type { WatchPicture } from "./watch-lines.ts";
import { toWatchRows } from "./watch-row.ts";
import { WatchSource } from "./watch-source.ts";

export interface WatchFlags extends ServerFlags {
  untilSettled: boolean;
}

const MAX_PROMPT_CHARACTERS = 200;
/** A session that has ended ends its delegates; those whose worker is gone are not waited for. */
const LAST_DELEGATES_MS = 30_000;

/** Show what a session's agents are doing until it is closed. Starts no worker and changes nothing, also when it is interrupted. */
export async function watch(sessionId: string | undefined, flags: WatchFlags, host: Host): Promise<ExitCode> {
  const connected = await host.interruption.orElse(connect(flags, host));
  const ending = new AbortController();
  const display = createWatchDisplay(host.output);
  try {
    const { sessions } = connected;
    const summary = await host.interruption.orElse(
      sessionId === undefined ? findLatest(connected, host.output.toCommand) : sessions.describe(sessionId),
    );
    const session = sessions.get(summary.sessionId);
    const source = new WatchSource({ sessions, session, summary, stateFolder: host.stateFolder });
    await host.interruption.orElse(source.start(ending.signal));
    const looking = source.keepLooking(ending.signal);
    await showUntilEnd(source, display, flags, host);
    ending.abort();
    await looking;
    host.output.event({ type: "end", session: summary.sessionId, status: source.summary.status });
    return exitCodes.completed;
  } finally {
    ending.abort();
    display.end();
    await connected.release();
  }
}

async function showUntilEnd(
  source: WatchSource,
  display: WatchDisplay,
  flags: WatchFlags,
  host: Host,
): Promise<void> {
  const { signal } = host.interruption;
  let closedAtMs: number | undefined;
  for (;;) {
    if (!source.isOpen) closedAtMs ??= Date.now();
    const isLong = closedAtMs !== undefined && Date.now() - closedAtMs > LAST_DELEGATES_MS;
    // Asked for before it is drawn, so that the last state is on the screen.
    const isOver = source.isSettled ? !source.isOpen || flags.untilSettled : isLong;
    display.show(() => toPicture(source, host.output.toCommand));
    if (isOver || !host.output.hasReader()) return;
    await sleep(display.everyMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

function toPicture(source: WatchSource, toCommand: ToCommand): WatchPicture {
  const watched = source.see();
  const { sessionId, status, prompt } = source.summary;
  const mode = watched.view === undefined ? "" : ` · permissions ${watched.view.permissionMode}`;
  return {
    sessionId,
    status,
    head: `${sessionId} · ${status}${mode} · ${toOneLine(prompt, MAX_PROMPT_CHARACTERS)}`,
    notice: toNotice(source, toCommand),
    rows: toWatchRows(watched),
    toCommand,
    questions: watched.view?.questions ?? [],
  };
}

function toNotice(
  { serverProblem, isAnswering, summary }: WatchSource,
  toCommand: ToCommand,
): string | undefined {
  if (serverProblem !== undefined) return `server unreachable: ${serverProblem}`;
  if (isAnswering || summary.status !== "open") return undefined;
  return `no worker answers: ${toCommand(["worker", "--task-queue", summary.taskQueue])} carries it on`;
}

async function findLatest({ sessions, lease }: Connected, toCommand: ToCommand): Promise<SessionSummary> {
  const [latest] = await sessions.list({ isOpen: true, limit: 1 });
  if (latest !== undefined) return latest;
  throw new CliError(
    "Session.NoneOpen",
    `no session is open in namespace ${lease.namespace} of ${lease.address}. Begin one with: ${toCommand(["run"], '"..."')}`,
  );
}
