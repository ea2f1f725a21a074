import { opendir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { DefinitionProblem } from "../../core/definition.ts";
import { refusal, toErrorCode } from "./problem.ts";

/** Entries of a folder that are looked at, and documents of it that are read: a folder of definitions is small. */
const MAX_ENTRIES = 20_000;
const MAX_DOCUMENTS = 200;

export interface DocumentList {
  /** Real path of the folder; undefined where there is none. */
  directory: string | undefined;
  /** Paths in the order of their file names, those to be read first. */
  files: string[];
  /** Documents above the limit: they are not read, and their names are not in force. */
  unread: string[];
  problems: DefinitionProblem[];
}

/** List a folder's `*.md` in bounded time; hidden files and subfolders' are none. A missing folder is an empty list with a problem. */
export async function listDocuments(directory: string): Promise<DocumentList> {
  const names: string[] = [];
  const problems: DefinitionProblem[] = [];
  const report = (message: string, instead: string) =>
    problems.push({ file: directory, ...refusal(0, "", message, instead) });
  let real: string;
  try {
    real = await realpath(directory);
    let entries = 0;
    for await (const entry of await opendir(real)) {
      if (++entries > MAX_ENTRIES) {
        report(`holds more than ${MAX_ENTRIES} entries; the rest is not looked at`, "a folder of its own");
        break;
      }
      if (entry.name.endsWith(".md") && !entry.name.startsWith(".")) names.push(entry.name);
    }
  } catch (error) {
    const code = toErrorCode(error);
    const isMissing = code === "ENOENT";
    report(isMissing ? "does not exist" : `cannot be read as a folder (${code})`, "a folder of definitions");
    return { directory: undefined, files: [], unread: [], problems };
  }
  // By code units, so that every machine agrees on which of two documents is first.
  names.sort((left, right) => (left < right ? -1 : 1));
  const paths = names.map((name) => join(directory, name));
  if (paths.length > MAX_DOCUMENTS) {
    const message = `holds ${paths.length} documents; those after ${names[MAX_DOCUMENTS - 1]} are not read`;
    report(message, `at most ${MAX_DOCUMENTS} documents`);
  }
  return {
    directory: real,
    files: paths.slice(0, MAX_DOCUMENTS),
    unread: paths.slice(MAX_DOCUMENTS),
    problems,
  };
}
