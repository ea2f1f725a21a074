import { type FileHandle, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { encodeFileName } from "../../core/state-folder.ts";
import { openPlainFile } from "../paths/open-plain-file.ts";
import { fromLine, type JournalEntry } from "./journal-entry.ts";
import { JournalUnreadable } from "./journal-error.ts";

/** The files of one chain: a journal a generation, and an empty one beside it once it is sealed. */
export class ChainFiles {
  readonly #folder: string;
  readonly #prefix: string;

  constructor(folder: string, chain: string) {
    this.#folder = folder;
    this.#prefix = `${encodeFileName(chain)}.`;
  }

  toJournal(generation: number): string {
    return path.join(this.#folder, `${this.#prefix}${generation}.jsonl`);
  }

  toSeal(generation: number): string {
    return path.join(this.#folder, `${this.#prefix}${generation}.sealed`);
  }

  async list(): Promise<{ generation: number; isSeal: boolean }[]> {
    const names = await readdir(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw new JournalUnreadable(`the journals can't be listed: ${error.message}`);
    });
    return names.flatMap((name) => {
      if (!name.startsWith(this.#prefix)) return [];
      const match = /^([1-9]\d*)\.(jsonl|sealed)$/.exec(name.slice(this.#prefix.length));
      return match === null ? [] : [{ generation: Number(match[1]), isSeal: match[2] === "sealed" }];
    });
  }

  /** The latest generation with what is in it; 0 where there is none. */
  async readLatest(): Promise<{ generation: number; entries: JournalEntry[] }> {
    for (let lastMissing = 0; ; ) {
      const generation = await this.#findLatest();
      if (generation === 0) return { generation, entries: [] };
      try {
        return { generation, entries: await readEntries(this.toJournal(generation)) };
      } catch (error) {
        // Two later owners have come and cleared it away since it was listed.
        const isGone = error instanceof JournalUnreadable && isMissing(error.cause);
        if (!isGone || lastMissing === generation) throw error;
        lastMissing = generation;
      }
    }
  }

  /** Open the latest generation's journal for reading; undefined where there is none. What is open stays readable when it is cleared away. */
  async openLatest(): Promise<FileHandle | undefined> {
    for (let lastMissing = 0; ; ) {
      const generation = await this.#findLatest();
      if (generation === 0) return undefined;
      try {
        return await openPlainFile(this.toJournal(generation));
      } catch (error) {
        if (!isMissing(error) || lastMissing === generation)
          throw new JournalUnreadable(`the journal can't be read: ${(error as Error).message}`);
        lastMissing = generation;
      }
    }
  }

  async #findLatest(): Promise<number> {
    const journals = (await this.list()).filter(({ isSeal }) => !isSeal);
    return Math.max(0, ...journals.map((each) => each.generation));
  }

  async seal(generation: number): Promise<void> {
    if (generation > 0) await writeFile(this.toSeal(generation), "", { mode: 0o600 });
  }

  async isOvertaken(own: number): Promise<boolean> {
    const files = await this.list();
    const isThere = files.some(({ generation, isSeal }) => generation === own && !isSeal);
    return (
      !isThere || files.some(({ generation, isSeal }) => generation > own || (isSeal && generation === own))
    );
  }

  async removeUpTo(last: number): Promise<void> {
    const old = (await this.list()).filter(({ generation }) => generation <= last);
    await Promise.all(
      old.map(({ generation, isSeal }) =>
        rm(isSeal ? this.toSeal(generation) : this.toJournal(generation), { force: true }),
      ),
    );
  }
}

export async function readEntries(file: string): Promise<JournalEntry[]> {
  const text = await readText(file).catch((error: Error) => {
    throw new JournalUnreadable(`the journal can't be read: ${error.message}`, { cause: error });
  });
  const lines = text.split("\n");
  // A line is whole once its line feed is there; what follows the last one was torn by a crash.
  const whole = lines.slice(0, -1);
  return whole.map((line, index) => {
    try {
      return fromLine(line, index + 1);
    } catch (error) {
      throw new JournalUnreadable(`line ${index + 1} of the journal is damaged`, { cause: error });
    }
  });
}

async function readText(file: string): Promise<string> {
  const handle = await openPlainFile(file);
  try {
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
}
