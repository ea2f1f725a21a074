import { DefaultLogger, Runtime } from "@temporalio/worker";

/**
 * Set the SDK up for a process that is a worker and nothing else: signals are the entry's own business, and warnings go to `log`. Once, before the
 * first worker; a product that embeds the workers sets its own runtime up.
 */
export function installWorkerRuntime(log: (line: string) => void): void {
  Runtime.install({
    shutdownSignals: [],
    // Its native side would else write to standard output by itself, where programs read JSON.
    telemetryOptions: { logging: { filter: { core: "WARN", other: "ERROR" }, forward: {} } },
    logger: new DefaultLogger("WARN", ({ level, message, meta }) => {
      // Delegates' workers have no workflows, by design.
      if (message.startsWith("No workflows registered")) return;
      const reason = meta?.error instanceof Error ? `: ${meta.error.message}` : "";
      log(`${level} ${message}${reason}`);
    }),
  });
}
