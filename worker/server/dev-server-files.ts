import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { identifyProcess } from "../../activities/processes/process-identity.ts";
import { ServerError, toErrorText } from "./server-error.ts";

/** The files of a dev server in its folder. */
export interface DevServerFiles {
  folder: string;
  database: string;
  serverLog: string;
  supervisorLog: string;
  /** Held by the one supervisor that may run a server on this database. */
  lock: string;
  record: string;
}

const identitySchema = z.object({ pid: z.number().int(), startTime: z.string(), host: z.string() });
/** As earlier versions wrote it: the start time without the boot that it counts from. */
const earlierIdentitySchema = z
  .object({ pid: z.number().int(), startedAt: z.string() })
  .transform(({ pid, startedAt }) => {
    const present = identifyProcess(pid);
    return present?.startTime.endsWith(`/${startedAt}`) ? present : undefined;
  });

const recordSchema = z.object({
  port: z.number().int(),
  uiPort: z.number().int(),
  /** Absent while no server was started at these ports. */
  server: identitySchema.or(earlierIdentitySchema).optional().catch(undefined),
});

/** The ports that the dev server had last, and its process. */
export type DevServerRecord = z.infer<typeof recordSchema>;

/** The systems' limits are 104 and 108 bytes, the closing NUL included. */
const MAX_SOCKET_BYTES = 100;

export function toDevServerFiles(folder: string): DevServerFiles {
  return {
    folder,
    database: path.join(folder, "temporal.db"),
    serverLog: path.join(folder, "server.log"),
    supervisorLog: path.join(folder, "supervisor.log"),
    lock: path.join(folder, "lock"),
    record: path.join(folder, "record.json"),
  };
}

/**
 * Make the folder and see that files can be written there.
 *
 * @throws ServerError Server.Configuration with the system's reason.
 */
export function makeDevServerFolder(folder: string): void {
  const probe = path.join(folder, `probe-${process.pid}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(probe, "a full disk refuses this");
    rmSync(probe);
  } catch (error) {
    throw new ServerError(
      "Server.Configuration",
      `the dev server's folder ${folder} can't be written (${toErrorText(error)}): make it writable, free some space, or set XDG_STATE_HOME to another folder`,
      error,
    );
  }
}

/**
 * Find where the supervisor's socket lies: in the folder or, as a socket's path must be short, in a folder of this user's in /tmp.
 * It does not depend on TMPDIR, which may differ between two commands.
 *
 * @throws ServerError Server.Configuration if someone else has made that folder.
 */
export function toSocketPath(folder: string): string {
  const usual = path.join(folder, "supervisor.sock");
  if (Buffer.byteLength(usual) <= MAX_SOCKET_BYTES) return usual;
  const userId = process.getuid?.() ?? 0;
  const short = `/tmp/subagents-${userId}`;
  mkdirSync(short, { recursive: true, mode: 0o700 });
  const found = lstatSync(short);
  if (!found.isDirectory() || found.uid !== userId || (found.mode & 0o077) !== 0) {
    throw new ServerError(
      "Server.Configuration",
      `${short} is not a folder of this user's alone: remove it, or set XDG_STATE_HOME to a folder with a short path`,
    );
  }
  return path.join(short, `${createHash("sha256").update(folder).digest("hex").slice(0, 16)}.sock`);
}

/** Read the record; undefined if there is none or it can't be understood. */
export function readRecord(file: string): DevServerRecord | undefined {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined;
  }
}

/** Write the record in one step. Synchronous, so that a server's process is on file before anything else can happen. */
export function writeRecord(file: string, record: DevServerRecord): void {
  const next = `${file}.next`;
  writeFileSync(next, JSON.stringify(record));
  renameSync(next, file);
}
