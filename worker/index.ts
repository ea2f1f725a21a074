/** What a product needs to run workers of its own, or to find a server as the command line does. */
export { histogramBuckets } from "../core/metrics.ts";
export { type StateFolder, toStateFolder } from "../core/state-folder.ts";
export { listLivingWorkers, type WorkerRecord } from "./registry.ts";
export { BundleError, bundleWorkflowsFile } from "./replay/bundle-file.ts";
export type { EventDescription } from "./replay/describe-event.ts";
export type { Divergence } from "./replay/explain.ts";
export { type History, HistoryError, type HistoryFacts } from "./replay/history.ts";
export { readHistories } from "./replay/history-files.ts";
export { type HistorySource, type ReplayOutcome, replayHistories } from "./replay/replay-histories.ts";
export { installWorkerRuntime } from "./runtime.ts";
export { type EnsureServerOptions, ensureServer, type ServerLease } from "./server/ensure-server.ts";
export { readTelemetry, type TelemetrySettings } from "./telemetry/settings.ts";
export { startWorkerTelemetry, type WorkerTelemetry } from "./telemetry/worker-telemetry.ts";
export { type RunningWorker, startWorker, type WorkerOptions } from "./worker.ts";
export { bundleWorkflows } from "./workflow-bundle.ts";
