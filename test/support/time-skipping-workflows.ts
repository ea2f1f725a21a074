import { condition, defineSignal, setHandler } from "@temporalio/workflow";
import type { Settlement } from "../../core/delegation.ts";
import { signalNames } from "../../core/messages.ts";
import type { DelegateInput, StopRequest } from "../../core/session.ts";
import { noUsage } from "../../core/status.ts";

export { sessionWorkflow } from "../../workflows/session.ts";

/** Time stands still on the test server while an activity waits or runs: this delegate has none. It ends when its session stops it. */
export async function delegateWorkflow(input: DelegateInput): Promise<Settlement> {
  let cause: StopRequest["cause"] | undefined;
  setHandler(defineSignal<[StopRequest]>(signalNames.stop), (request) => {
    cause = request.cause;
  });
  await condition(() => cause !== undefined);
  return {
    delegationId: input.delegationId,
    status: cause ?? "stopped",
    report: "half a sentence",
    turns: 1,
    toolCalls: 0,
    usage: noUsage,
    attempts: 1,
    denials: [],
    model: "test/model",
  };
}
