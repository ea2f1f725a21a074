import { z } from "zod";
import { splitGlob, toGlobBase } from "../paths/glob-base.ts";
import { Refusal, showPath } from "../paths/refusal.ts";
import { answering, joinLines, MAX_ANSWER_BYTES } from "./answer.ts";
import { showInWorkspace } from "./gate.ts";
import { isNamePattern, toGlobMatcher } from "./glob-match.ts";
import { runRipgrep, SEARCH_SECONDS, toFoundPath } from "./ripgrep.ts";
import { describeEnd, keepWhereFound, toSearchRoot } from "./search-root.ts";
import type { Tool, ToolContext } from "./tool.ts";

const MAX_PATHS = 1_000;

const input = z.object({
  pattern: z
    .string()
    .describe("Such as `**/*.ts` or `src/{a,b}/*.json`; a name without a slash matches at any depth."),
  path: z.string().optional().describe("Folder to start in. Default: the workspace."),
});

/** Lists files by pattern. */
export const globTool: Tool<typeof input> = {
  name: "Glob",
  description: [
    "List files whose path matches a pattern, sorted by path, relative to the workspace.",
    "Files that .gitignore names are left out, unless `path` is or lies in an ignored folder; hidden files are listed, version control's own data and symbolic links are not.",
    `At most ${MAX_PATHS} paths, ${MAX_ANSWER_BYTES / 1024} KB and ${SEARCH_SECONDS} s; the answer says if it stopped early.`,
  ].join(" "),
  input,
  toTarget: ({ pattern, path }) => (path ? `${pattern} in ${path}` : pattern),
  execute: (call, context, signal) => answering(signal, () => listFiles(call, context, signal)),
};

async function listFiles(
  { pattern, path }: z.infer<typeof input>,
  context: ToolContext,
  signal: AbortSignal,
): Promise<string> {
  if (pattern === "") throw new Refusal("the pattern is empty; `**/*` lists everything");
  const matches = toGlobMatcher(splitGlob(pattern).rest || "**/*", { isAnyDepth: isNamePattern(pattern) });
  const root = await toSearchRoot(toGlobBase(pattern, path ?? "."), context);
  if (!root.isFolder) throw new Refusal(`${showPath(root.real)} is a file; Glob starts in a folder`);
  const found = new FoundPaths(root.real, context, matches);
  const outcome = await runRipgrep({
    context,
    signal,
    root: root.real,
    options: ["--files", "--null"],
    onOutput: (chunk) => found.push(chunk),
  });
  const { kept, note } = await keepWhereFound(found.paths, (real) => real);
  const shown = kept.map((real) => showInWorkspace(real, context));
  const nothing = shown.length === 0 ? `no file matches ${showPath(pattern)}` : undefined;
  return joinLines(nothing, ...shown, describeEnd(outcome, found.limit), note, root.note);
}

/** Takes ripgrep's list as it comes and keeps what matches, within the bounds. */
class FoundPaths {
  readonly paths: string[] = [];
  limit = `${MAX_PATHS} paths`;
  readonly #root: string;
  readonly #context: ToolContext;
  readonly #matches: (path: string) => boolean;
  #rest: Buffer = Buffer.alloc(0);
  #bytes = 0;

  constructor(root: string, context: ToolContext, matches: (path: string) => boolean) {
    this.#root = root;
    this.#context = context;
    this.#matches = matches;
  }

  /** Answers false when the bounds are reached. */
  push(chunk: Buffer): boolean {
    const data = Buffer.concat([this.#rest, chunk]);
    let start = 0;
    for (let end = data.indexOf(0); end !== -1; end = data.indexOf(0, start)) {
      if (!this.#take(data.toString("utf8", start, end))) return false;
      start = end + 1;
    }
    this.#rest = data.subarray(start);
    return true;
  }

  #take(printed: string): boolean {
    const real = toFoundPath(printed, this.#root, this.#context);
    const relative = real.slice(this.#root.length).replace(/^\/+/, "");
    if (!this.#matches(relative)) return true;
    if (this.paths.length >= MAX_PATHS) return false;
    this.#bytes += Buffer.byteLength(showInWorkspace(real, this.#context)) + 1;
    if (this.#bytes > MAX_ANSWER_BYTES) {
      this.limit = `${MAX_ANSWER_BYTES / 1024} KB`;
      return false;
    }
    this.paths.push(real);
    return true;
  }
}
