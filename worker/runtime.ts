import { DefaultLogger, Runtime, type TelemetryOptions } from "@temporalio/worker";

/** What the SDK says at each export that fails. */
const METRICS_AWAY = "OTLP metric export failed";

/**
 * Set the SDK up for a process that is a worker and nothing else: signals are the entry's own business, and warnings go to `log`. Once, before the
 * first worker; a product that embeds the workers sets its own runtime up.
 *
 * @param metrics how metrics leave the process; none do by default
 */
export function installWorkerRuntime(
  log: (line: string) => void,
  metrics?: TelemetryOptions["metrics"],
): void {
  let isMetricsAway = false;
  Runtime.install({
    shutdownSignals: [],
    // Its native side would else write to standard output by itself, where programs read JSON.
    telemetryOptions: {
      logging: { filter: { core: "WARN", other: "ERROR" }, forward: {} },
      ...(metrics === undefined ? {} : { metrics }),
    },
    logger: new DefaultLogger("WARN", ({ level, message, meta }) => {
      // Delegates' workers have no workflows, by design.
      if (message.startsWith("No workflows registered")) return;
      if (message.startsWith(METRICS_AWAY)) {
        if (isMetricsAway) return;
        isMetricsAway = true;
      }
      log(`${level} ${message}${toReason(meta?.error)}`);
    }),
  });
}

function toReason(error: unknown): string {
  if (error instanceof Error) return `: ${error.message}`;
  return typeof error === "string" ? `: ${error}` : "";
}
