import type { Activities } from "../core/activities.ts";
import { loadCatalogue } from "./definitions/load-catalogue.ts";
import { resolveModelPin } from "./models/resolve-pin.ts";
import type { ActivityHost } from "./run/host.ts";
import { salvageRun } from "./run/salvage.ts";
import { runAgent } from "./run-agent.ts";

export { createFileJournalStore } from "./journal/journal-store.ts";
export { killOrphans } from "./processes/end-processes.ts";
export { isProcessAlive, ownProcessIdentity } from "./processes/process-identity.ts";
export type { ActivityHost, ActivityRef, AttemptStanding } from "./run/host.ts";
export { listRunRecords } from "./run/run-record.ts";

/** Make the activities that a worker registers. */
export function createActivities(host: ActivityHost): Activities {
  return {
    runAgent: async (run) => await runAgent(run, host),
    loadCatalogue: async (request) =>
      await loadCatalogue(request, {
        builtinDirectory: host.builtinDirectory,
        userDirectory: host.userDirectory,
        promptsDirectory: host.stateFolder.prompts,
        resolveModelPin,
      }),
    salvageRun: async (request) => await salvageRun(request, host.journals),
  };
}
