import { randomUUID } from "node:crypto";
import { access, type FileHandle, link, mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { encodeFileName, type StateFolder, toSessionFolder } from "../../core/state-folder.ts";
import type { JournalEntry } from "./journal-entry.ts";

/** Where journals lie. A fleet can put them elsewhere than into one host's state folder. */
export interface JournalStore {
  /**
   * Take a chain over: read what is there and begin a generation of one's own, so that an earlier owner that wakes up writes where nobody reads.
   *
   * @throws JournalUnreadable
   */
  takeOver(sessionId: string, chain: string): Promise<{ entries: JournalEntry[]; writer: JournalWriter }>;
  /** Read a chain without touching it; empty where there is none. @throws JournalUnreadable */
  read(sessionId: string, chain: string): Promise<JournalEntry[]>;
}

export interface JournalWriter {
  /** Put an entry on disk; resolves once it is there. Appends are carried out in the order of the calls. */
  append(entry: JournalEntry): Promise<void>;
  /** Whether a later owner has taken the chain over. */
  isOvertaken(): Promise<boolean>;
  readonly lines: number;
  close(): Promise<void>;
}

/** A journal is damaged before its last line, or can't be read or written: nothing may be resumed from it. */
export class JournalUnreadable extends Error {
  override readonly name = "JournalUnreadable";
}

/** Generations of a chain that stay on disk beside the present one. */
const KEPT_GENERATIONS = 1;

/** Keep journals as JSON lines in the state folder: `journals/<chain>.<generation>.jsonl`, mode 0600. */
export function createFileJournalStore(state: StateFolder): JournalStore {
  return {
    async takeOver(sessionId, chain) {
      const { journals } = toSessionFolder(state, sessionId);
      await mkdir(journals, { recursive: true, mode: 0o700 });
      for (;;) {
        const generations = await listGenerations(journals, chain);
        const last = generations.at(-1);
        const entries = last === undefined ? [] : await readEntries(toFile(journals, chain, last));
        const next = (last ?? 0) + 1;
        const writer = await begin(journals, chain, next, entries);
        if (writer === undefined) continue;
        await Promise.all(
          generations
            .slice(0, -KEPT_GENERATIONS)
            .map((old) => rm(toFile(journals, chain, old), { force: true })),
        );
        return { entries, writer };
      }
    },
    async read(sessionId, chain) {
      const { journals } = toSessionFolder(state, sessionId);
      const last = (await listGenerations(journals, chain)).at(-1);
      return last === undefined ? [] : await readEntries(toFile(journals, chain, last));
    },
  };
}

function toFile(journals: string, chain: string, generation: number): string {
  return path.join(journals, `${encodeFileName(chain)}.${generation}.jsonl`);
}

async function listGenerations(journals: string, chain: string): Promise<number[]> {
  const prefix = `${encodeFileName(chain)}.`;
  const names = await readdir(journals).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new JournalUnreadable(`the journals can't be listed: ${error.message}`);
  });
  return names
    .flatMap((name) => {
      const generation = name.startsWith(prefix)
        ? /^([1-9]\d*)\.jsonl$/.exec(name.slice(prefix.length))?.[1]
        : undefined;
      return generation === undefined ? [] : [Number(generation)];
    })
    .toSorted((left, right) => left - right);
}

async function readEntries(file: string): Promise<JournalEntry[]> {
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw new JournalUnreadable(`the journal can't be read: ${error.message}`);
  });
  const lines = text.split("\n");
  // A line is whole once its line feed is there; what follows the last one was torn by a crash.
  const whole = lines.slice(0, -1);
  return whole.map((line, index) => {
    try {
      return JSON.parse(line) as JournalEntry;
    } catch {
      throw new JournalUnreadable(`line ${index + 1} of the journal is damaged`);
    }
  });
}

/** Begin a generation with a copy of what is there; undefined if another owner was faster. */
async function begin(
  journals: string,
  chain: string,
  generation: number,
  entries: readonly JournalEntry[],
): Promise<JournalWriter | undefined> {
  const file = toFile(journals, chain, generation);
  const draft = `${file}.${randomUUID()}.new`;
  const handle = await open(draft, "wx", 0o600);
  try {
    if (entries.length > 0)
      await handle.appendFile(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    await handle.datasync();
    if (!(await claim(draft, file))) {
      await handle.close();
      return undefined;
    }
  } catch (error) {
    await handle.close();
    throw error;
  }
  return toWriter(handle, { own: file, successor: toFile(journals, chain, generation + 1) }, entries.length);
}

async function claim(from: string, to: string): Promise<boolean> {
  try {
    // A hard link appears at once with its whole content, and fails if the name is taken.
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await rm(from, { force: true });
  }
}

async function exists(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  );
}

function toWriter(
  handle: FileHandle,
  { own, successor }: { own: string; successor: string },
  initialLines: number,
): JournalWriter {
  let lines = initialLines;
  let last: Promise<void> = Promise.resolve();
  const write = async (entry: JournalEntry): Promise<void> => {
    await handle.appendFile(`${JSON.stringify(entry)}\n`);
    await handle.datasync();
    lines += 1;
  };
  return {
    append(entry) {
      // After a failed write the file may end in a torn line: nothing may follow it.
      last = last.then(() => write(entry));
      return last;
    },
    async isOvertaken() {
      return !(await exists(own)) || (await exists(successor));
    },
    get lines() {
      return lines;
    },
    async close() {
      await last.catch(() => undefined);
      await handle.close();
    },
  };
}
