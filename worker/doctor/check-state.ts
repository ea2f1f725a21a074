import { constants } from "node:fs";
import { access, opendir, readdir, readFile, stat, statfs } from "node:fs/promises";
import path from "node:path";
import { isProcessAlive } from "../../activities/processes/process-identity.ts";
import type { StateFolder } from "../../core/state-folder.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

const CHECK = "state folder";
const GIB = 1024 ** 3;
/** A dev server's database and journals grow by megabytes a session. */
const LOW_SPACE_BYTES = GIB / 2;
const MAX_FILES_MEASURED = 20_000;
const ABANDONED_MS = 3_600_000;

/** See that the state folder can be used, by whom, how full it is, and what processes that are gone left in it. */
export async function checkState(state: StateFolder): Promise<Finding[]> {
  const { root } = state;
  const found = await stat(root).catch((error: NodeJS.ErrnoException) => error.code);
  if (found === "ENOENT") return [await checkToBeMade(root)];
  if (found === "ENOTDIR") return [toObstacle(await findExisting(root), root)];
  if (found === undefined || typeof found === "string") {
    return [
      problem(CHECK, `${root} can't be looked at (${found})`, "make it readable, or set XDG_STATE_HOME"),
    ];
  }
  if (!found.isDirectory()) return [toObstacle(root, root)];
  if (!(await isWritable(root))) return [toUnwritable(root)];
  const size = await measure(root);
  return [
    ok(CHECK, `${root}: writable, ${toSizeText(size.bytes)}${size.isWhole ? "" : " or more"}`),
    ...checkOwner(root, found),
    ...(await checkSpace(root)),
    ...(await checkLeftovers(state)),
  ];
}

function toObstacle(file: string, root: string): Finding {
  const where = file === root ? "the state folder is to be" : `a folder is needed for ${root}`;
  return problem(
    CHECK,
    `${file} is a file, where ${where}`,
    `move ${file} away, or set XDG_STATE_HOME to another folder`,
  );
}

/** What is there of a path: the nearest place above it. */
async function findExisting(place: string): Promise<string> {
  let parent = path.dirname(place);
  while (parent !== path.dirname(parent) && (await stat(parent).catch(() => undefined)) === undefined) {
    parent = path.dirname(parent);
  }
  return parent;
}

async function checkToBeMade(root: string): Promise<Finding> {
  const parent = await findExisting(root);
  return (await isWritable(parent))
    ? ok(CHECK, `${root} is not there yet; the first command makes it`)
    : toUnwritable(parent);
}

function toUnwritable(folder: string): Finding {
  return problem(
    CHECK,
    `${folder} can't be written`,
    "make it writable for you, or set XDG_STATE_HOME to another folder",
  );
}

async function isWritable(folder: string): Promise<boolean> {
  return access(folder, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

function checkOwner(root: string, { uid, mode }: { uid: number; mode: number }): Finding[] {
  const own = process.getuid?.();
  if (own !== undefined && uid !== own) {
    return [
      warning(
        CHECK,
        `${root} belongs to user ${uid}, not to you (${own})`,
        "let each user have a folder of their own, by XDG_STATE_HOME",
      ),
    ];
  }
  if ((mode & 0o022) === 0) return [];
  return [warning(CHECK, `others may write to ${root}`, `chmod go-w ${root}: journals in it are believed`)];
}

async function checkSpace(root: string): Promise<Finding[]> {
  const { bavail, bsize } = await statfs(root);
  const free = bavail * bsize;
  if (free >= LOW_SPACE_BYTES) return [ok("disk space", `${toSizeText(free)} free for ${root}`)];
  return [
    problem(
      "disk space",
      `only ${toSizeText(free)} free for ${root}`,
      "free some space: a full disk ends sessions",
    ),
  ];
}

/** Records of runs stay behind whenever a worker ends within a minute of them: they are no sign of a fault. */
async function checkLeftovers(state: StateFolder): Promise<Finding[]> {
  const [workers, runs, fetches] = await Promise.all([
    countDead(state.workers, (record) => record),
    countDead(state.runs, (record) => (record as { owner?: unknown })?.owner),
    countAbandoned(state.bin),
  ]);
  const parts = [
    [workers, "of workers that are gone"],
    [runs, "of runs whose worker is gone"],
    [fetches, "of fetches that did not end"],
  ] as const;
  const said = parts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  if (said.length === 0) return [];
  return [
    ok(
      "leftovers",
      `${said.join(", ")}: the next worker or fetch removes them, and hands back runs that are waited for`,
    ),
  ];
}

async function countDead(folder: string, toOwner: (record: unknown) => unknown): Promise<number> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".json"));
  let dead = 0;
  for (const name of names.slice(0, MAX_FILES_MEASURED)) {
    const text = await readFile(path.join(folder, name), "utf8").catch(() => "");
    if (isDead(toOwner(parse(text)))) dead += 1;
  }
  return dead;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isDead(owner: unknown): boolean {
  const { pid, startTime } = (owner ?? {}) as { pid?: unknown; startTime?: unknown };
  return typeof pid === "number" && typeof startTime === "string" && !isProcessAlive({ pid, startTime });
}

async function countAbandoned(folder: string): Promise<number> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.startsWith("fetch-"));
  const ages = await Promise.all(
    names.map(
      async (name) =>
        Date.now() - ((await stat(path.join(folder, name)).catch(() => undefined))?.mtimeMs ?? Date.now()),
    ),
  );
  return ages.filter((age) => age > ABANDONED_MS).length;
}

/** How much lies in a folder, as far as that can be counted in good time. */
async function measure(folder: string): Promise<{ bytes: number; isWhole: boolean }> {
  let bytes = 0;
  let files = 0;
  try {
    for await (const entry of await opendir(folder, { recursive: true })) {
      if (++files > MAX_FILES_MEASURED) return { bytes, isWhole: false };
      if (entry.isFile())
        bytes += (await stat(path.join(entry.parentPath, entry.name)).catch(() => undefined))?.size ?? 0;
    }
    return { bytes, isWhole: true };
  } catch {
    // A folder that went away, or that is another's, on the way.
    return { bytes, isWhole: false };
  }
}

function toSizeText(bytes: number): string {
  return bytes >= GIB ? `${(bytes / GIB).toFixed(1)} GiB` : `${Math.ceil(bytes / 1024 ** 2)} MiB`;
}
