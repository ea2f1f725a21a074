import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { isProcessAlive, ownProcessIdentity } from "../activities/index.ts";
import type { StateFolder } from "../core/state-folder.ts";

const workerRecordSchema = z.object({
  pid: z.number(),
  startTime: z.string(),
  host: z.string(),
  address: z.string(),
  namespace: z.string(),
  taskQueue: z.string(),
});
/** A worker process of this host, as it registers itself in the state folder. */
export type WorkerRecord = z.infer<typeof workerRecordSchema>;

/** Say that this process works on a task queue. @returns takes the record back */
export async function registerWorker(
  state: StateFolder,
  place: Pick<WorkerRecord, "address" | "namespace" | "taskQueue">,
): Promise<() => Promise<void>> {
  await mkdir(state.workers, { recursive: true, mode: 0o700 });
  const identity = ownProcessIdentity();
  const file = path.join(state.workers, `${identity.pid}-${encodeURIComponent(place.taskQueue)}.json`);
  await writeFile(`${file}.new`, JSON.stringify({ ...identity, ...place }), { mode: 0o600 });
  await rename(`${file}.new`, file);
  return () => rm(file, { force: true });
}

/** List the worker processes of this host that are alive. Records of dead ones are removed on the way. */
export async function listLivingWorkers(state: StateFolder): Promise<WorkerRecord[]> {
  const names = await readdir(state.workers).catch(() => []);
  const { host } = ownProcessIdentity();
  const living: WorkerRecord[] = [];
  for (const name of names.filter((each) => each.endsWith(".json"))) {
    const file = path.join(state.workers, name);
    const parsed = workerRecordSchema.safeParse(
      await readFile(file, "utf8")
        .then(JSON.parse)
        .catch(() => undefined),
    );
    if (!parsed.success || parsed.data.host !== host) continue;
    if (isProcessAlive(parsed.data)) living.push(parsed.data);
    else await rm(file, { force: true });
  }
  return living;
}
