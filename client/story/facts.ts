import type { LoadedDataConverter, Payload } from "@temporalio/common";
import {
  decodeArrayFromPayloads,
  decodeMapFromPayloads,
  decodeOptionalFailureToOptionalError,
} from "@temporalio/common/lib/internal-non-workflow/index.js";
import type { temporal } from "@temporalio/proto";
import type { Untimed } from "../../core/timestamp.ts";
import { toWorkflowTimes } from "./workflow-times.ts";

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
type Failure = temporal.api.failure.v1.IFailure;

/** One thing that a history tells, decoded, at the time that its workflow's clock showed. What can't be decoded is undefined. */
export type Fact = { atMs: number } & (
  | { kind: "started"; args: unknown[]; firstRunId: string; isContinued: boolean }
  | { kind: "update"; name: string; arg: unknown; eventId: string }
  | { kind: "updated"; acceptedId: string; outcome: unknown }
  | { kind: "signal"; name: string; arg: unknown }
  | { kind: "signal-sent"; workflowId: string; name: string; arg: unknown }
  | { kind: "child"; workflowId: string; arg: unknown; memo: Record<string, unknown> }
  | { kind: "child-ended"; workflowId: string; how: Ended; result: unknown; message: string }
  | { kind: "activity"; id: string; type: string; arg: unknown }
  | { kind: "activity-started"; id: string; attempt: number; lastFailure: string | undefined }
  | { kind: "activity-ended"; id: string; how: Ended; result: unknown; message: string }
  | { kind: "memo"; memo: Record<string, unknown> }
  | { kind: "cancel-requested"; reason: string }
  /** A step of the workflow could not be carried out; the server tries it again for ever. */
  | { kind: "fault"; message: string }
  | { kind: "ended"; how: Ended | "continued"; message: string; by: string; result: unknown }
);

export type Ended = "completed" | "failed" | "cancelled" | "timed-out" | "terminated" | "not-started";

/** Decode the events of a history that tell a story, in their order. */
export async function toFacts(
  events: readonly HistoryEvent[],
  converter: LoadedDataConverter,
): Promise<Fact[]> {
  const decoder = new Decoder(converter);
  const facts: Fact[] = [];
  const times = toWorkflowTimes(events);
  for (const [index, event] of events.entries()) {
    const fact =
      (await toWorkflowFact(event, decoder)) ??
      (await toMessageFact(event, decoder)) ??
      (await toChildFact(event, decoder)) ??
      (await toActivityFact(event, decoder));
    if (fact !== undefined) facts.push({ ...fact, atMs: times[index] ?? 0 });
  }
  return facts;
}

/** Distributes over the kinds, as Omit alone would not. */
type UntimedFact = Untimed<Fact>;

async function toWorkflowFact(event: HistoryEvent, decoder: Decoder): Promise<UntimedFact | undefined> {
  const started = event.workflowExecutionStartedEventAttributes;
  if (started) {
    const { firstExecutionRunId, continuedExecutionRunId } = started;
    const args = await decoder.all(started.input?.payloads);
    return {
      kind: "started",
      args,
      firstRunId: firstExecutionRunId ?? "",
      isContinued: Boolean(continuedExecutionRunId),
    };
  }
  const completed = event.workflowExecutionCompletedEventAttributes;
  if (completed) return toEnd("completed", "", "", await decoder.first(completed.result?.payloads));
  const failed = event.workflowExecutionFailedEventAttributes;
  if (failed) return toEnd("failed", await decoder.message(failed.failure));
  if (event.workflowExecutionTimedOutEventAttributes) return toEnd("timed-out", "");
  if (event.workflowExecutionCanceledEventAttributes) return toEnd("cancelled", "");
  const terminated = event.workflowExecutionTerminatedEventAttributes;
  if (terminated) return toEnd("terminated", terminated.reason ?? "", terminated.identity ?? "");
  if (event.workflowExecutionContinuedAsNewEventAttributes) return toEnd("continued", "");
  const asked = event.workflowExecutionCancelRequestedEventAttributes;
  if (asked) return { kind: "cancel-requested", reason: asked.cause ?? "" };
  const fault = event.workflowTaskFailedEventAttributes;
  if (fault) return { kind: "fault", message: await decoder.message(fault.failure) };
  const memo = event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields;
  return memo ? { kind: "memo", memo: await decoder.map(memo) } : undefined;
}

function toEnd(how: Ended | "continued", message: string, by = "", result: unknown = undefined): UntimedFact {
  return { kind: "ended", how, message, by, result };
}

async function toMessageFact(event: HistoryEvent, decoder: Decoder): Promise<UntimedFact | undefined> {
  const accepted = event.workflowExecutionUpdateAcceptedEventAttributes;
  if (accepted) {
    const input = accepted.acceptedRequest?.input;
    const arg = await decoder.first(input?.args?.payloads);
    return { kind: "update", name: input?.name ?? "", arg, eventId: String(event.eventId) };
  }
  const updated = event.workflowExecutionUpdateCompletedEventAttributes;
  if (updated) {
    const outcome = await decoder.first(updated.outcome?.success?.payloads);
    return { kind: "updated", acceptedId: String(updated.acceptedEventId), outcome };
  }
  const signal = event.workflowExecutionSignaledEventAttributes;
  if (signal) {
    const arg = await decoder.first(signal.input?.payloads);
    return { kind: "signal", name: signal.signalName ?? "", arg };
  }
  const sent = event.signalExternalWorkflowExecutionInitiatedEventAttributes;
  if (!sent) return undefined;
  const arg = await decoder.first(sent.input?.payloads);
  const workflowId = sent.workflowExecution?.workflowId ?? "";
  return { kind: "signal-sent", workflowId, name: sent.signalName ?? "", arg };
}

async function toChildFact(event: HistoryEvent, decoder: Decoder): Promise<UntimedFact | undefined> {
  const child = event.startChildWorkflowExecutionInitiatedEventAttributes;
  if (child) {
    const arg = await decoder.first(child.input?.payloads);
    const memo = await decoder.map(child.memo?.fields);
    return { kind: "child", workflowId: child.workflowId ?? "", arg, memo };
  }
  const notStarted = event.startChildWorkflowExecutionFailedEventAttributes;
  if (notStarted) {
    const workflowId = notStarted.workflowId ?? "";
    const message = "its workflow could not be started";
    return { kind: "child-ended", workflowId, how: "not-started", result: undefined, message };
  }
  const end = (
    how: Ended,
    of: { workflowExecution?: { workflowId?: string | null } | null } | null | undefined,
    result?: unknown,
    message = "",
  ): UntimedFact | undefined =>
    of
      ? { kind: "child-ended", workflowId: of.workflowExecution?.workflowId ?? "", how, result, message }
      : undefined;
  const completed = event.childWorkflowExecutionCompletedEventAttributes;
  if (completed) return end("completed", completed, await decoder.first(completed.result?.payloads));
  const failed = event.childWorkflowExecutionFailedEventAttributes;
  if (failed) return end("failed", failed, undefined, await decoder.message(failed.failure));
  return (
    end("cancelled", event.childWorkflowExecutionCanceledEventAttributes) ??
    end("timed-out", event.childWorkflowExecutionTimedOutEventAttributes) ??
    end("terminated", event.childWorkflowExecutionTerminatedEventAttributes)
  );
}

async function toActivityFact(event: HistoryEvent, decoder: Decoder): Promise<UntimedFact | undefined> {
  const scheduled = event.activityTaskScheduledEventAttributes;
  if (scheduled) {
    const arg = await decoder.first(scheduled.input?.payloads);
    return { kind: "activity", id: String(event.eventId), type: scheduled.activityType?.name ?? "", arg };
  }
  const started = event.activityTaskStartedEventAttributes;
  if (started) {
    const { scheduledEventId, attempt } = started;
    const lastFailure = started.lastFailure ? await decoder.message(started.lastFailure) : undefined;
    return { kind: "activity-started", id: String(scheduledEventId), attempt: attempt ?? 1, lastFailure };
  }
  const completed = event.activityTaskCompletedEventAttributes;
  if (completed) {
    const result = await decoder.first(completed.result?.payloads);
    return toActivityEnd(completed, "completed", result, "");
  }
  const failed = event.activityTaskFailedEventAttributes;
  if (failed) return toActivityEnd(failed, "failed", undefined, await decoder.message(failed.failure));
  const timedOut = event.activityTaskTimedOutEventAttributes;
  if (timedOut)
    return toActivityEnd(timedOut, "timed-out", undefined, await decoder.message(timedOut.failure));
  const cancelled = event.activityTaskCanceledEventAttributes;
  return cancelled ? toActivityEnd(cancelled, "cancelled", undefined, "") : undefined;
}

function toActivityEnd(
  { scheduledEventId }: { scheduledEventId?: unknown },
  how: Ended,
  result: unknown,
  message: string,
): UntimedFact {
  return { kind: "activity-ended", id: String(scheduledEventId), how, result, message };
}

/** Decodes what it can; a payload of another codec tells nothing and is no reason to fail. */
class Decoder {
  readonly #converter: LoadedDataConverter;

  constructor(converter: LoadedDataConverter) {
    this.#converter = converter;
  }

  async all(payloads: Payload[] | null | undefined): Promise<unknown[]> {
    return await decodeArrayFromPayloads(this.#converter, payloads).catch(() => []);
  }

  async first(payloads: Payload[] | null | undefined): Promise<unknown> {
    return (await this.all(payloads?.slice(0, 1)))[0];
  }

  async map(fields: Record<string, Payload> | null | undefined): Promise<Record<string, unknown>> {
    return (await decodeMapFromPayloads(this.#converter, fields).catch(() => undefined)) ?? {};
  }

  /** The innermost cause says what happened. */
  async message(failure: Failure | null | undefined): Promise<string> {
    const error = await decodeOptionalFailureToOptionalError(this.#converter, failure).catch(() => undefined);
    let message = error?.message ?? failure?.message ?? "";
    for (let cause = error?.cause; cause instanceof Error; cause = cause.cause) message = cause.message;
    return message;
  }
}
