import type { AgentRunInput } from "../../core/agent-run.ts";
import type { JournalEntry } from "../journal/journal-entry.ts";
import { JournalOvertaken, JournalUnreadable } from "../journal/journal-error.ts";
import type { JournalWriter } from "../journal/journal-store.ts";
import type { RunTelemetry } from "../telemetry/run-telemetry.ts";
import type { Permit, ThreadEvent, ThreadStart } from "../thread/protocol.ts";
import { callDelegationTool } from "./delegation-calls.ts";
import type { Heartbeater } from "./heartbeater.ts";
import type { ActivityHost } from "./host.ts";
import { IdleWatch } from "./idle-watch.ts";
import { JournalNotes } from "./journal-notes.ts";
import { permitCall } from "./permission-gate.ts";
import type { RunMonitor } from "./run-monitor.ts";
import type { RunEnd } from "./run-outcome.ts";
import { type RequestHandlers, ThreadHandle } from "./thread-handle.ts";

export interface AttemptContext {
  run: AgentRunInput;
  host: ActivityHost;
  monitor: RunMonitor;
  heartbeater: Heartbeater;
  telemetry: RunTelemetry;
  writer: JournalWriter;
  start: ThreadStart;
}

/** One attempt of an agent run at work: the agent thread on one side, clocks, journal and permissions on the other. */
export class Attempt {
  /** Resolves with the first cause that ends the attempt. */
  readonly ended: Promise<RunEnd>;
  readonly #context: AttemptContext;
  readonly #stop = new AbortController();
  readonly #idle: IdleWatch;
  readonly #thread: ThreadHandle;
  readonly #notes = new JournalNotes();
  #end: (end: RunEnd) => void = () => undefined;
  #cause: RunEnd | undefined;

  constructor(context: AttemptContext) {
    this.#context = context;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    const { limits, watchdog } = context.run;
    this.#idle = new IdleWatch(limits.idleSeconds * 1000, (silenceMs) => {
      if (watchdog === "enforce") this.end({ kind: "idle", silenceMs });
    });
    this.#thread = new ThreadHandle(context.start, this.#toHandlers(), {
      onEvent: (event) => this.#apply(event),
      onModel: (label) => {
        context.monitor.model = label;
      },
      onAnswered: (ending) => context.telemetry.endRequest(ending),
      onEnd: (ending) => this.end({ kind: "loop", ending }),
      onCrash: (error) => this.end({ kind: "crash", message: `the agent thread died: ${error.message}` }),
    });
  }

  /** End the attempt for a cause. Only the first one counts. */
  end(end: RunEnd): void {
    this.#cause ??= end;
    this.#end(this.#cause);
  }

  /** Whether another attempt goes on: what the end of this one makes of its tools is no result then. */
  get #isHandedOn(): boolean {
    return this.#cause?.kind === "handed-back" || this.#cause?.kind === "replaced";
  }

  /** Leave nothing running: timers, pending calls, the thread. Processes are ended by the caller. */
  async dispose(): Promise<void> {
    this.#idle.stop();
    this.#stop.abort();
    await this.#thread.stop();
  }

  #apply(event: ThreadEvent): void {
    const { monitor, heartbeater, telemetry } = this.#context;
    telemetry.onEvent(event, monitor.phase);
    monitor.apply(event, Date.now());
    this.#idle.rearm();
    if (event.type === "tool_execution_start") this.#idle.hold();
    if (event.type === "tool_execution_end") this.#idle.release();
    heartbeater.onEvent();
  }

  #toHandlers(): RequestHandlers {
    const { run, host, monitor, telemetry } = this.#context;
    return {
      request: async () => telemetry.startRequest(),
      event: async (event) => {
        this.#apply(event);
        await this.#writeAhead(event);
        return undefined;
      },
      permit: async (call) => await this.#permit(call),
      delegation: async ({ tool, input, callId, turn }) =>
        await callDelegationTool(
          host.sessionFor(run.sessionId),
          {
            tool,
            input,
            callKey: `${run.runId}/${turn}/${callId}`,
            turn: run.turn,
            trace: telemetry.toolContext(callId),
          },
          this.#stop.signal,
        ),
      backoff: async ({ waitMs, nextTry, code }) => {
        const remaining = this.#idle.remainingMs;
        const mayWait = run.watchdog === "report" || remaining === undefined || waitMs < remaining;
        if (mayWait) {
          monitor.startBackoff(nextTry, Date.now() + waitMs);
          this.#notes.addRetry({ atMs: Date.now(), waitMs, nextTry, code });
          this.#context.heartbeater.beatNow();
        }
        return { mayWait };
      },
      assertOwner: async () => {
        await this.#assertOwner();
        return undefined;
      },
    };
  }

  async #permit(call: { callId: string; tool: string; input: unknown }): Promise<Permit> {
    const { run, host, monitor, start, telemetry } = this.#context;
    const permit = await permitCall(
      {
        run,
        writeStart: async (callId) => await this.#write({ kind: "tool-start", callId, atMs: Date.now() }),
        session: host.sessionFor(run.sessionId),
        workspace: start.tools.workspace,
        scratch: start.tools.scratch,
        signal: this.#stop.signal,
        addDenial: (denial) => monitor.addDenial(denial),
        openQuestion: () => {
          this.#holdForQuestion();
          telemetry.openQuestion(call.callId, call.tool);
        },
        closeQuestion: () => this.#releaseAfterQuestion(),
        assertOwner: async () => await this.#assertOwner(),
      },
      { ...call, key: `${run.runId}/${monitor.turns}/${call.callId}` },
    );
    if (!permit.isAllowed) this.#notes.addDenied(call.callId);
    telemetry.endPermit(call.callId, permit.isAllowed);
    const trace = telemetry.isTraced ? telemetry.toolContext(call.callId) : undefined;
    return trace === undefined ? permit : { ...permit, trace };
  }

  #holdForQuestion(): void {
    this.#idle.hold();
    this.#context.monitor.openQuestion();
    this.#context.heartbeater.beatNow();
  }

  #releaseAfterQuestion(): void {
    this.#idle.release();
    this.#context.monitor.closeQuestion();
    this.#context.heartbeater.beatNow();
  }

  async #assertOwner(): Promise<void> {
    if (this.#cause === undefined && !(await this.#context.writer.isOvertaken())) return;
    this.end({ kind: "replaced" });
    throw new Error("this attempt is over: nothing more may be written");
  }

  async #writeAhead(event: ThreadEvent): Promise<void> {
    const entry = this.#notes.toEntry(event);
    if (entry !== undefined) await this.#write(entry);
  }

  async #write(entry: JournalEntry): Promise<void> {
    const { writer, monitor } = this.#context;
    if (this.#isHandedOn) throw new JournalOvertaken("another attempt goes on");
    try {
      await writer.append({ ...entry, atMs: entry.atMs ?? Date.now() });
      monitor.journalLines = writer.lines;
    } catch (error) {
      this.end(
        error instanceof JournalOvertaken
          ? { kind: "replaced" }
          : { kind: "journal", message: describeJournalError(error) },
      );
      throw error;
    }
  }
}

/** Say why a run can't be written down or taken up again. */
export function describeJournalError(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return error instanceof JournalUnreadable
    ? `${reason}: nothing was resumed from it`
    : `the journal can't be written: ${reason}`;
}
