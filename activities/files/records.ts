import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { z } from "zod";

/** Whose ledger, and who works. */
export interface LedgerActor {
  ledger: string;
  actor: string;
}

const writeSchema = z.object({
  actor: z.string(),
  version: z.string(),
  /** Whose earlier change this actor had not seen, and does not know by its own edit either. */
  unseen: z.string().optional(),
});
/** One change of a file by somebody of the session. */
export type RecordedChange = z.infer<typeof writeSchema>;
const writtenSchema = writeSchema.extend({
  path: z.string(),
  /** What was there before: tells a change that a crash kept from happening. */
  before: z.object({ version: z.string(), last: writeSchema.optional() }).optional(),
});
/** The last change that somebody of the session made to a file. */
export type LastWrite = z.infer<typeof writtenSchema>;
const seenSchema = z.object({ path: z.string(), actor: z.string(), version: z.string() });

/** What the session knows of one file, seen by one actor. */
export interface FileHistory {
  /** The version that this actor last read or wrote. */
  seen: string | undefined;
  last: LastWrite | undefined;
}

/** Load what the session knows of a file; a torn or strange record counts as none. */
export async function loadHistory(owner: LedgerActor, real: string): Promise<FileHistory> {
  const [seen, last] = await Promise.all([
    loadRecord(toSeenFile(owner, real), seenSchema),
    loadRecord(toWrittenFile(owner, real), writtenSchema),
  ]);
  return { seen: seen?.version, last };
}

/** Remember that this actor knows the file at this version. Survives the process. */
export async function recordSeen(owner: LedgerActor, real: string, version: string): Promise<void> {
  await saveRecord(toSeenFile(owner, real), { path: real, actor: owner.actor, version });
}

/** Remember who changed the file; to be called under the file's lock. `undefined` takes a record back. */
export async function recordWritten(
  owner: LedgerActor,
  real: string,
  written: LastWrite | undefined,
): Promise<void> {
  await saveRecord(toWrittenFile(owner, real), written ?? {});
}

/** The last change that really happened, judged by the version that is there. */
export function toLastChange({ last }: FileHistory, version: string): RecordedChange | undefined {
  const hasNotHappened = last !== undefined && last.version !== version && last.before?.version === version;
  return hasNotHappened ? last.before?.last : last;
}

/** Name under which the ledger keeps a file. */
export function toFileKey(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 40);
}

function toSeenFile({ ledger, actor }: LedgerActor, real: string): string {
  return `${ledger}/seen/${toFileKey(real)}.${toFileKey(actor).slice(0, 16)}.json`;
}

function toWrittenFile({ ledger }: LedgerActor, real: string): string {
  return `${ledger}/written/${toFileKey(real)}.json`;
}

async function loadRecord<T>(file: string, schema: z.ZodType<T>): Promise<T | undefined> {
  const text = await readFile(file, "utf8").catch(() => "");
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

async function saveRecord(file: string, record: object): Promise<void> {
  await mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.${randomUUID()}`;
  await writeFile(unfinished, JSON.stringify(record), { mode: 0o600 });
  await rename(unfinished, file);
}
