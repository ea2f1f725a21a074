import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import type { StateFolder } from "../../core/state-folder.ts";

const runRecordSchema = z.object({
  /** Value of SUBAGENTS_RUN in the processes that this attempt starts. */
  marker: z.string(),
  sessionId: z.string(),
  chain: z.string(),
  attempt: z.number(),
  /** Base64; enough to hand the attempt back to the server. */
  taskToken: z.string(),
  /** Of the server: two of them may have a namespace of one name. */
  address: z.string(),
  namespace: z.string(),
  owner: z.object({ pid: z.number(), startTime: z.string(), host: z.string() }),
});
/** What a restarted worker needs to know of an attempt that was under way when its process was killed. */
export type RunRecord = z.infer<typeof runRecordSchema>;

/**
 * An attempt that is over is remembered for so long: its answer may still be on its way to the server, and get lost with the process. A record that stays
 * behind does no harm: the server knows its token no more.
 */
const FORGET_AFTER_MS = 60_000;

/** Write down that an attempt is under way. @returns says that it is over */
export async function writeRunRecord(state: StateFolder, record: RunRecord): Promise<() => void> {
  await mkdir(state.runs, { recursive: true, mode: 0o700 });
  const file = path.join(state.runs, `${createHash("sha256").update(record.marker).digest("hex")}.json`);
  await writeFile(`${file}.new`, JSON.stringify(record), { mode: 0o600 });
  await rename(`${file}.new`, file);
  return () => {
    setTimeout(() => void rm(file, { force: true }).catch(() => undefined), FORGET_AFTER_MS).unref();
  };
}

/** List the attempts that are under way on this host, or were when their process died. Damaged files are passed over. */
export async function listRunRecords(
  state: StateFolder,
): Promise<{ record: RunRecord; remove: () => Promise<void> }[]> {
  const names = await readdir(state.runs).catch(() => []);
  const found = await Promise.all(
    names
      .filter((name) => name.endsWith(".json"))
      .map(async (name) => {
        const file = path.join(state.runs, name);
        const parsed = runRecordSchema.safeParse(
          await readFile(file, "utf8")
            .then(JSON.parse)
            .catch(() => undefined),
        );
        return parsed.success ? [{ record: parsed.data, remove: () => rm(file, { force: true }) }] : [];
      }),
  );
  return found.flat();
}
