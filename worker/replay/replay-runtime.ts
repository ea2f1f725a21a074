import { DefaultLogger, Runtime } from "@temporalio/worker";

/** Set the SDK up for a process that only replays: what it would log is in the outcomes. Once, before the first replay. */
export function installReplayRuntime(): void {
  Runtime.install({
    shutdownSignals: [],
    telemetryOptions: { logging: { filter: { core: "ERROR", other: "ERROR" }, forward: {} } },
    logger: new DefaultLogger("ERROR", () => undefined),
  });
}
