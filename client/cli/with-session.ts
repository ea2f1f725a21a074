import type { SessionSummary } from "../session-client.ts";
import type { SessionHandle } from "../session-handle.ts";
import { type Connected, connect, type ServerFlags } from "./connect.ts";
import type { Host } from "./host.ts";
import { createSessionWorker, type SessionWorker, serveLook, serveSession } from "./session-worker.ts";

export interface OpenedSession {
  session: SessionHandle;
  summary: SessionSummary;
  worker: SessionWorker;
  connected: Connected;
}

/** What a session is opened for: a look needs whoever answers, a turn needs a worker that stays. */
export type Purpose = "look" | "turn";

/**
 * Open a session, start what is missing for its purpose, and give everything back afterwards.
 *
 * @throws SessionError Session.NotFound before anything is started for it.
 */
export async function withSession<Result>(
  sessionId: string,
  purpose: Purpose,
  flags: ServerFlags & { telemetry?: boolean },
  host: Host,
  use: (opened: OpenedSession) => Promise<Result>,
): Promise<Result> {
  const connected = await host.interruption.orElse(connect(flags, host));
  try {
    const summary = await connected.sessions.describe(sessionId);
    const session = connected.sessions.get(sessionId);
    const settings = {
      taskQueue: summary.taskQueue,
      environment: connected.environment,
      profile: flags.profile,
      telemetry: flags.telemetry,
    };
    const worker = createSessionWorker(settings, (text) => host.output.say(text));
    try {
      const serve = purpose === "turn" ? serveSession : serveLook;
      await host.interruption.orElse(serve({ session, summary, worker, connected, host }));
      return await use({ session, summary, worker, connected });
    } finally {
      await worker.stop();
    }
  } finally {
    await connected.release();
  }
}
