import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { LiveState } from "../core/activity-text.ts";
import { type LiveFileContent, liveFileSchema, toLiveFile } from "../core/live-file.ts";
import type { StateFolder } from "../core/state-folder.ts";

/** Reads what the runs of one session do at this moment, as workers of this host write it down. */
export class LiveFiles {
  readonly #state: StateFolder;
  readonly #sessionId: string;
  readonly #read = new Map<string, { text: string; content: LiveFileContent | undefined }>();

  constructor(state: StateFolder, sessionId: string) {
    this.#state = state;
    this.#sessionId = sessionId;
  }

  /** Undefined where the run is on another host, has not begun, is over, or its file can't be read. Cheap enough for every redraw. */
  read(chain: string): LiveFileContent | undefined {
    let text: string;
    try {
      text = readFileSync(toLiveFile(this.#state, this.#sessionId, chain), "utf8");
    } catch {
      this.#read.delete(chain);
      return undefined;
    }
    const known = this.#read.get(chain);
    if (known?.text === text) return known.content;
    // A write that was met half done is passed over: the one before counts until the next look.
    const content = parse(text) ?? known?.content;
    this.#read.set(chain, { text, content });
    return content;
  }
}

function parse(text: string): LiveFileContent | undefined {
  try {
    return liveFileSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/**
 * What a run is doing, by the server's record and by its live file, whichever knows more.
 *
 * The file counts for the attempt that the server knows of, or if it was written since the server was asked. A worker of this host that is dead is
 * named as lost long before the server can notice.
 *
 * @param lookedAtMs when the server was asked
 */
export function freshen(
  live: LiveState | undefined,
  file: LiveFileContent | undefined,
  lookedAtMs: number,
  isAlive: (worker: string) => boolean = isWorkerAlive,
): LiveState | undefined {
  if (file === undefined) return live;
  const details = { ...file.details, partialReport: file.saying };
  const running: LiveState = isAlive(details.worker)
    ? { kind: "running", attempt: details.attempt, details }
    : { kind: "worker-lost", sinceMs: file.atMs, details };
  if (live === undefined || live.kind === "queued" || live.kind === "unknown")
    return file.atMs >= lookedAtMs ? running : live;
  if (live.kind !== "running") return live;
  if (live.attempt < details.attempt) return file.atMs >= lookedAtMs ? running : live;
  if (live.attempt > details.attempt) return live;
  return details.lastEventAtMs >= (live.details?.lastEventAtMs ?? 0) || running.kind === "worker-lost"
    ? running
    : live;
}

/** Whether a worker, `<pid>@<host>`, may still be there. Of other hosts nothing is known: it may. */
function isWorkerAlive(worker: string): boolean {
  const at = worker.indexOf("@");
  const pid = Number(worker.slice(0, at));
  if (worker.slice(at + 1) !== hostname() || !Number.isInteger(pid) || pid <= 0) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
