import { ApplicationFailure, type Client } from "@temporalio/client";
import { isProcessAlive, killOrphans, listRunRecords, ownProcessIdentity } from "../activities/index.ts";
import type { StateFolder } from "../core/state-folder.ts";

/**
 * Hand back the runs that a killed worker process of this host has left unfinished, and end the processes that they started.
 *
 * Before a worker polls: the server then starts the next attempt at once, instead of when the heartbeat timeout has passed. The task token is enough. An attempt
 * that the server has given up already is none of our business any more.
 */
export async function reclaimRuns(
  state: StateFolder,
  client: Client,
  address: string,
  log: (line: string) => void,
): Promise<number> {
  const records = await listRunRecords(state);
  const { host } = ownProcessIdentity();
  const dead = records.filter(({ record }) => record.owner.host === host && !isProcessAlive(record.owner));
  const living = new Set(records.filter((each) => !dead.includes(each)).map(({ record }) => record.marker));
  const ownMarks = `[${JSON.stringify(state.root)},`;
  // Processes of this state folder whose run has no living owner.
  await killOrphans((marker) => marker.startsWith(ownMarks) && !living.has(marker));
  const namespace = client.options.namespace;
  const ours = dead.filter(({ record }) => record.namespace === namespace && record.address === address);
  const handedBack = await Promise.all(
    ours.map(async ({ record, remove }) => {
      const failure = toWorkerGone();
      try {
        await client.activity.fail(Buffer.from(record.taskToken, "base64"), failure);
      } catch (error) {
        if (isGone(error)) await remove();
        else
          log(`could not hand back ${record.chain} of ${record.sessionId}; the server will notice by itself`);
        return false;
      }
      await remove();
      return true;
    }),
  );
  return handedBack.filter(Boolean).length;
}

/** The server knows no such attempt any more: it has timed out, or its workflow is closed. */
function isGone(error: unknown): boolean {
  return error instanceof Error && error.name === "ActivityNotFoundError";
}

/** What a run is handed back with. Its worker is here again: there is nothing to wait for. */
export function toWorkerGone(): ApplicationFailure {
  return ApplicationFailure.create({
    message: "its worker process died",
    type: "WorkerGone",
    nonRetryable: false,
    nextRetryDelay: 100,
  });
}
