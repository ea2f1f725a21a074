import type { Api, Model } from "@earendil-works/pi-ai";
import { AssistantMessageEventStream } from "@earendil-works/pi-ai/utils/event-stream";
import type { RunError } from "../../core/status.ts";
import type { ModelRuntime } from "./runtime.ts";
import { toEmptyMessage } from "./script-play.ts";

/** A model that can't be used: its first request answers with the reason, so that the run ends like after any other failure. */
export function createRefusingRuntime(
  model: Model<Api>,
  label: string,
  { code, message }: RunError,
): ModelRuntime {
  return {
    model,
    label,
    streamFn: () => {
      const stream = new AssistantMessageEventStream();
      const error = { ...toEmptyMessage(model, 0), stopReason: "error" as const, errorMessage: message };
      stream.push({ type: "error", reason: "error", error });
      stream.end(error);
      return stream;
    },
    takeFailure: () => ({ code, message, isRetryable: false }),
  };
}
