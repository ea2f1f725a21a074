import { randomUUID } from "node:crypto";
import { type FileHandle, link, mkdir, open, rm } from "node:fs/promises";
import { type StateFolder, toSessionFolder } from "../../core/state-folder.ts";
import { ChainFiles, readEntries } from "./chain-files.ts";
import { type JournalEntry, type RunOpening, toLine } from "./journal-entry.ts";
import { JournalOvertaken, JournalUnreadable } from "./journal-error.ts";

/** What an attempt takes a chain over with. */
export interface TakeOver {
  /** Becomes the first line that the attempt adds. */
  opening: RunOpening;
  /** What a chain that is still empty begins with. */
  inherit(): Promise<JournalEntry[]>;
  /** Lines that the run is known to have written; a journal with fewer is not the one it wrote. */
  knownLines: number;
}

/** Where journals lie. A fleet can put them elsewhere than into one host's state folder. */
export interface JournalStore {
  /**
   * Take a chain over: seal what is there, read it, and begin a generation of one's own with it, all of it or nothing. What an earlier owner wrote
   * before the seal is read; it looks for the seal after it wrote and before it acts. So of two attempts one knows of the other.
   *
   * @returns what was there, without the opening
   * @throws JournalUnreadable, JournalOvertaken
   */
  takeOver(
    sessionId: string,
    chain: string,
    takeOver: TakeOver,
  ): Promise<{ entries: JournalEntry[]; writer: JournalWriter }>;
  /** Read a chain without touching it; empty where there is none. @throws JournalUnreadable */
  read(sessionId: string, chain: string): Promise<JournalEntry[]>;
}

export interface JournalWriter {
  /**
   * Put an entry on disk; resolves once it is there. Appends are carried out in the order of the calls.
   *
   * @throws JournalOvertaken, and nothing is written
   */
  append(entry: JournalEntry): Promise<void>;
  /** Whether a later owner has taken the chain over. */
  isOvertaken(): Promise<boolean>;
  readonly lines: number;
  close(): Promise<void>;
}

/** Generations of a chain that stay on disk beside the present one. */
const KEPT_GENERATIONS = 1;

/** Keep journals as JSON lines in the state folder: `journals/<chain>.<generation>.jsonl`, mode 0600. */
export function createFileJournalStore(state: StateFolder): JournalStore {
  return {
    async takeOver(sessionId, chain, takeOver) {
      const { journals } = toSessionFolder(state, sessionId);
      await mkdir(journals, { recursive: true, mode: 0o700 });
      for (;;) {
        const files = new ChainFiles(journals, chain);
        const { generation, entries: before } = await files.readLatest();
        check(before, takeOver);
        await files.seal(generation);
        const sealed = generation === 0 ? [] : await readEntries(files.toJournal(generation));
        const entries = sealed.length === 0 ? await takeOver.inherit() : sealed;
        const writer = await begin(files, generation + 1, [...entries, takeOver.opening]);
        if (writer === undefined) continue;
        await files.removeUpTo(generation - KEPT_GENERATIONS);
        return { entries, writer };
      }
    },
    async read(sessionId, chain) {
      const { journals } = toSessionFolder(state, sessionId);
      return (await new ChainFiles(journals, chain).readLatest()).entries;
    },
  };
}

/** @throws JournalUnreadable, JournalOvertaken */
function check(entries: readonly JournalEntry[], { opening, knownLines }: TakeOver): void {
  const last = entries.findLast((entry) => entry.kind === "run");
  if (last !== undefined && (last.scheduledAtMs ?? 0) > (opening.scheduledAtMs ?? Number.POSITIVE_INFINITY))
    throw new JournalOvertaken("a later attempt has begun already");
  if (entries.length < knownLines) {
    throw new JournalUnreadable(
      `the journal has ${entries.length} lines here, and ${knownLines} were written: this is not where the run was`,
    );
  }
}

/** Begin a generation with all that it is to begin with; undefined if another owner was faster. */
async function begin(
  files: ChainFiles,
  generation: number,
  entries: readonly JournalEntry[],
): Promise<JournalWriter | undefined> {
  const file = files.toJournal(generation);
  const draft = `${file}.${randomUUID()}.new`;
  const handle = await open(draft, "wx", 0o600);
  try {
    await handle.appendFile(entries.map((entry, index) => toLine(entry, index + 1)).join(""));
    await handle.datasync();
    const writer = (await claim(draft, file))
      ? toWriter(handle, files, generation, entries.length)
      : undefined;
    if (writer !== undefined && !(await writer.isOvertaken())) return writer;
    await handle.close();
    return undefined;
  } catch (error) {
    await handle.close();
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function claim(from: string, to: string): Promise<boolean> {
  try {
    // A hard link appears at once with its whole content, and fails if the name is taken.
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function toWriter(
  handle: FileHandle,
  files: ChainFiles,
  generation: number,
  initialLines: number,
): JournalWriter {
  let lines = initialLines;
  let last: Promise<void> = Promise.resolve();
  const write = async (entry: JournalEntry): Promise<void> => {
    if (await files.isOvertaken(generation)) throw new JournalOvertaken("a later attempt owns the journal");
    await handle.appendFile(toLine(entry, lines + 1));
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
      return await files.isOvertaken(generation);
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
