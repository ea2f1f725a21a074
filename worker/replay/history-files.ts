import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { HistoryError } from "./history.ts";
import { parseHistory } from "./read-history.ts";
import type { HistorySource } from "./replay-histories.ts";

/**
 * Read histories from files, and from folders with all that they hold: every `.json` and `.jsonl`, in the order of names. What can't be read comes
 * with its reason instead of a history; it does not end the others.
 */
export async function* readHistories(...paths: string[]): AsyncGenerator<HistorySource> {
  for (const place of paths) {
    const files = await listFiles(place).catch(toHistoryError);
    if (files instanceof HistoryError) {
      yield { name: place, error: files };
      continue;
    }
    for (const file of files) yield await readOne(file);
  }
}

async function readOne(file: string): Promise<HistorySource> {
  try {
    return { name: file, history: parseHistory(await readFile(file)) };
  } catch (error) {
    return { name: file, error: toHistoryError(error) };
  }
}

async function listFiles(place: string): Promise<string[]> {
  if (!(await stat(place)).isDirectory()) return [place];
  const names = await readdir(place, { recursive: true });
  const found = names.filter((name) => /\.jsonl?$/i.test(name)).toSorted();
  if (found.length === 0) throw new HistoryError("it is a folder without histories: there is no .json in it");
  return found.map((name) => path.join(place, name));
}

function toHistoryError(error: unknown): HistoryError {
  if (error instanceof HistoryError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return new HistoryError("there is no such file", { isMissing: true });
  return new HistoryError(`it can't be read: ${message}`);
}
