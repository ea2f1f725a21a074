import { type ChildProcessByStdio, spawn } from "node:child_process";
import { access } from "node:fs/promises";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { bound, toOneLine } from "../../core/text.ts";
import { isBelow } from "../paths/inside.ts";
import { Refusal, toErrorCode } from "../paths/refusal.ts";
import type { ToolContext } from "./tool.ts";

/** Time that a search may take; what it found until then is answered. */
export const SEARCH_SECONDS = 20;
const MAX_ERROR_CHARACTERS = 500;
/** Names by which ripgrep knows files to ignore. */
const IGNORE_FILES = [".gitignore", ".ignore", ".rgignore"];
/** Data of version control, never searched unless named as the path. */
const STORES = [".git", ".hg", ".svn", ".jj"];

type SearchEnd = "done" | "stopped" | "timeout";

export interface Search {
  context: ToolContext;
  signal: AbortSignal;
  /** Resolved folder or file that is searched. */
  root: string;
  /** What to do there: options before `--`. */
  options: string[];
  /** Takes standard output in order; answers false to have no more of it. */
  onOutput: (chunk: Buffer) => boolean;
}

export interface SearchOutcome {
  end: SearchEnd;
  seconds: number;
  /** What ripgrep complained about, on one line; "" for nothing. */
  complaint: string;
  hasFailed: boolean;
}

/**
 * Run ripgrep over a folder or file: sorted by path, .gitignore obeyed, hidden files searched, no link followed.
 *
 * The process is gone when this returns or throws, whatever ended it.
 */
export async function runRipgrep({
  context,
  signal,
  root,
  options,
  onOutput,
}: Search): Promise<SearchOutcome> {
  const cwd = isBelow(root, context.workspace) ? context.workspace : toFolder(root);
  // Flushed by the line: what was found must be here when the time is over.
  const fixed = ["--no-config", "--color=never", "--sort=path", "--line-buffered", "--hidden"];
  const ignoring = [...(await toIgnoreOptions(cwd)), ...STORES.map((store) => `--glob=!${store}`)];
  const relative = `./${root.slice(cwd.length).replace(/^\/+/, "")}`;
  const child = await startRipgrep([...fixed, ...ignoring, ...options, "--", relative], cwd, context);
  return await superviseSearch(child, Math.min(SEARCH_SECONDS, context.maxSeconds), signal, onOutput);
}

/** Bring a path of ripgrep's output back to a resolved one. */
export function toFoundPath(printed: string, root: string, { workspace }: ToolContext): string {
  const cwd = isBelow(root, workspace) ? workspace : toFolder(root);
  return `${cwd === "/" ? "" : cwd}/${printed.replace(/^\.\//, "")}`;
}

function toFolder(root: string): string {
  return root === "/" ? root : dirname(root);
}

/**
 * Outside of a repository ripgrep would obey ignore files of every folder above, which git never would: then only the workspace's
 * own count.
 */
async function toIgnoreOptions(cwd: string): Promise<string[]> {
  const options = ["--no-require-git", "--no-ignore-global"];
  if (await hasAny(cwd, [".git"])) return options;
  for (let folder = dirname(cwd); ; folder = dirname(folder)) {
    if (await hasAny(folder, [".git"])) return options;
    if (await hasAny(folder, IGNORE_FILES)) {
      const own = await Promise.all(
        IGNORE_FILES.map(async (name) => ((await hasAny(cwd, [name])) ? [`--ignore-file=${name}`] : [])),
      );
      return [...options, "--no-ignore-parent", ...own.flat()];
    }
    if (folder === "/") return options;
  }
}

async function hasAny(folder: string, names: string[]): Promise<boolean> {
  const found = await Promise.all(
    names.map((name) =>
      access(`${folder}/${name}`).then(
        () => true,
        () => false,
      ),
    ),
  );
  return found.includes(true);
}

type RipgrepProcess = ChildProcessByStdio<null, Readable, Readable>;

async function startRipgrep(
  args: string[],
  cwd: string,
  { runMarker }: ToolContext,
): Promise<RipgrepProcess> {
  for (const program of [await toBundledProgram(), "rg"]) {
    if (program === undefined) continue;
    const child = spawn(program, args, {
      cwd,
      env: { PATH: process.env.PATH ?? "", SUBAGENTS_RUN: runMarker },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const code = await new Promise<string>((resolve) => {
      child.once("spawn", () => resolve(""));
      child.once("error", (error) => resolve(toErrorCode(error) || String(error)));
    });
    if (code === "") return child;
    if (code !== "ENOENT" && code !== "EACCES") throw new Refusal(`ripgrep could not be started: ${code}`);
  }
  throw new Refusal("ripgrep is not installed, neither with this package nor as `rg` on PATH");
}

async function toBundledProgram(): Promise<string | undefined> {
  // Its package for this platform is optional: where it is missing, the import fails.
  return await import("@vscode/ripgrep").then(
    ({ rgPath }) => rgPath,
    () => undefined,
  );
}

async function superviseSearch(
  child: RipgrepProcess,
  maxSeconds: number,
  signal: AbortSignal,
  onOutput: (chunk: Buffer) => boolean,
): Promise<SearchOutcome> {
  const startedAt = performance.now();
  let end: SearchEnd | undefined;
  let complaint = "";
  const stop = (why: SearchEnd) => {
    end ??= why;
    child.kill("SIGKILL");
  };
  const onAbort = () => stop("stopped");
  const timer = setTimeout(() => stop("timeout"), maxSeconds * 1_000);
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort();
  child.stdout.on("data", (chunk: Buffer) => {
    if (end === undefined && !onOutput(chunk)) stop("stopped");
  });
  child.stderr.on("data", (chunk: Buffer) => {
    complaint = bound(complaint + chunk.toString("utf8"), MAX_ERROR_CHARACTERS, () => " …");
  });
  try {
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    signal.throwIfAborted();
    const seconds = (performance.now() - startedAt) / 1_000;
    // Code 1 means that nothing was found.
    const hasFailed = end === undefined && code !== 0 && code !== 1;
    return { end: end ?? "done", seconds, complaint: toOneLine(complaint, MAX_ERROR_CHARACTERS), hasFailed };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
