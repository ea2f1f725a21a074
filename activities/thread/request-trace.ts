import type { AssistantMessage } from "@earendil-works/pi-ai";
import { noUsage } from "../../core/status.ts";
import type { TraceContext } from "../../core/trace-context.ts";
import type { ModelRuntime } from "../models/runtime.ts";
import { toUsage } from "../run/usage.ts";
import type { RequestEnding } from "./protocol.ts";

/** Who makes the spans of requests. */
export interface RequestTracer {
  /** Asked before each request. */
  begin(): Promise<void>;
  end(ending: RequestEnding): void;
}

/** Tell of every request that a model is sent, each try on its own, and how it ended. */
export function withRequestTrace(runtime: ModelRuntime, tracer: RequestTracer): ModelRuntime {
  return {
    ...runtime,
    streamFn: async (model, context, options) => {
      await tracer.begin();
      // The loop meets the same rejection, and deals with it.
      const onRejected = () => tracer.end(toBroken(options?.signal));
      try {
        const stream = await runtime.streamFn(model, context, options);
        void stream.result().then((message) => tracer.end(toEnding(runtime, message)), onRejected);
        return stream;
      } catch (error) {
        onRejected();
        throw error;
      }
    },
  };
}

function toEnding(runtime: ModelRuntime, message: AssistantMessage): RequestEnding {
  const { stopReason, responseId, responseModel } = message;
  return {
    stopReason,
    usage: toUsage(message.usage),
    ...(responseId === undefined ? {} : { responseId }),
    ...(responseModel === undefined ? {} : { responseModel }),
    ...(stopReason === "error" ? { code: runtime.takeFailure(message).code } : {}),
  };
}

/** A request that has no message to show for itself, against the contract of models. */
function toBroken(signal: AbortSignal | undefined): RequestEnding {
  if (signal?.aborted) return { stopReason: "aborted", usage: noUsage };
  return { stopReason: "error", usage: noUsage, code: "INTERNAL" };
}

/** The context of the request that is under way, as headers. */
export function toTraceHeaders(trace: TraceContext | undefined): Record<string, string> {
  if (trace === undefined) return {};
  const { traceparent, tracestate } = trace;
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
}
