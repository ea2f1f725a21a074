import { stat } from "node:fs/promises";
import { NoPlainFile, openPlainFile } from "../../activities/paths/open-plain-file.ts";
import { HistoryError } from "./history.ts";
import { listFiles } from "./list-files.ts";
import { parseHistory } from "./read-history.ts";
import type { HistorySource } from "./replay-histories.ts";

/**
 * Read histories from files, and from folders with all that they hold: every `.json` and `.jsonl`, in the order of names, each once. What can't be read comes
 * with its reason instead of a history; it does not end the others.
 */
export async function* readHistories(...paths: string[]): AsyncGenerator<HistorySource> {
  for (const place of paths) {
    const files = await list(place).catch((error: unknown) => toHistoryError(error, place));
    if (files instanceof HistoryError) {
      yield { name: place, error: files };
      continue;
    }
    for (const file of files) yield await readOne(file);
  }
}

async function readOne(file: string): Promise<HistorySource> {
  try {
    return { name: file, history: parseHistory(await read(file)) };
  } catch (error) {
    return { name: file, error: toHistoryError(error, file) };
  }
}

async function read(file: string): Promise<Buffer> {
  const handle = await openPlainFile(file);
  try {
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

async function list(place: string): Promise<string[]> {
  if (!(await stat(place)).isDirectory()) return [place];
  const files = await listFiles(place);
  if (files.length === 0) throw new HistoryError("it is a folder without histories: there is no .json in it");
  return files;
}

function toHistoryError(error: unknown, file: string): HistoryError {
  if (error instanceof HistoryError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof NoPlainFile) return new HistoryError(message);
  if (code === "ELOOP") return new HistoryError("it is a link that leads to itself");
  if (code !== "ENOENT") return new HistoryError(`it can't be read: ${message}`);
  if (file.includes("\ufffd")) return new HistoryError("its name is not UTF-8: rename it to replay it");
  return new HistoryError("there is no such file", { isMissing: true });
}
