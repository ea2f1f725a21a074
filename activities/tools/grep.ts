import { z } from "zod";
import { Refusal } from "../paths/refusal.ts";
import { answering, joinLines, MAX_ANSWER_BYTES } from "./answer.ts";
import { showInWorkspace } from "./gate.ts";
import { isNamePattern, toGlobMatcher, toNameGlob, toRelativeGlob } from "./glob-match.ts";
import { FoundLines, MAX_LINE_BYTES } from "./grep-output.ts";
import { runRipgrep, SEARCH_SECONDS, type SearchOutcome } from "./ripgrep.ts";
import { describeEnd, keepWhereFound, type SearchRoot, toSearchRoot } from "./search-root.ts";
import type { Tool, ToolContext } from "./tool.ts";

const DEFAULT_MATCHES = 100;
const MAX_MATCHES = 1_000;
const MAX_PATTERN_CHARACTERS = 10_000;
/** Files above this size are not searched unless they are named: nearly all of them are no text, and each costs a second. */
const MAX_FILE_MEGABYTES = 64;

const input = z.object({
  pattern: z.string().describe("Regular expression in Rust's syntax, for one line; no look-around."),
  path: z.string().optional().describe("Folder or file to search. Default: the workspace."),
  glob: z
    .string()
    .optional()
    .describe("Only files that match, such as `*.ts` (any depth) or `src/**/*.md` (from `path`)."),
  ignoreCase: z.boolean().optional().describe("Default false."),
  limit: z
    .number()
    .int()
    .min(1)
    .max(MAX_MATCHES)
    .optional()
    .describe(`Lines to show, ${DEFAULT_MATCHES} by default, at most ${MAX_MATCHES}.`),
});
type Call = z.infer<typeof input>;

/** Searches the content of files. */
export const grepTool: Tool<typeof input> = {
  name: "Grep",
  description: [
    "Search files for a regular expression; each match is one line `path:line:text`, sorted by path.",
    "Files that .gitignore names are left out, unless `path` is or lies in an ignored folder; hidden files are searched, binary files, version control's own data and symbolic links are not.",
    `Lines are cut at ${MAX_LINE_BYTES} bytes. Files above ${MAX_FILE_MEGABYTES} MB are searched only if \`path\` names them.`,
    `At most ${MAX_ANSWER_BYTES / 1024} KB and ${SEARCH_SECONDS} s; the answer says if it stopped early.`,
  ].join(" "),
  input,
  toTarget: ({ pattern, path }) => (path ? `${pattern} in ${path}` : pattern),
  execute: (call, context, signal) => answering(signal, () => searchFiles(call, context, signal)),
};

async function searchFiles(call: Call, context: ToolContext, signal: AbortSignal): Promise<string> {
  refusePattern(call.pattern);
  const root = await toSearchRoot(call.path ?? ".", context);
  const glob = call.glob ? toRelativeGlob(call.glob, root.real) : undefined;
  const limit = call.limit ?? DEFAULT_MATCHES;
  const found = new FoundLines(root.real, context, limit, toFileFilter(glob, root));
  const outcome = await runRipgrep({
    context,
    signal,
    root: root.real,
    options: toOptions(call, glob, root),
    onOutput: (chunk) => found.push(chunk),
  });
  refuseFailure(outcome, found.lines.length);
  const { kept, note } = await keepWhereFound(found.lines, ({ real }) => real);
  const shown = kept.map(({ real, number, text }) => `${showInWorkspace(real, context)}:${number}:${text}`);
  const binary = found.binaryFiles > 0 ? `[${found.binaryFiles} binary files were not shown]` : undefined;
  const nothing = shown.length === 0 ? "no match" : undefined;
  return joinLines(nothing, ...shown, describeEnd(outcome, found.limit), binary, note, root.note);
}

function refusePattern(pattern: string): void {
  if (pattern === "") throw new Refusal("the pattern is empty");
  if (pattern.includes("\0")) throw new Refusal("the pattern has a NUL character in it; write \\x00");
  if (pattern.length <= MAX_PATTERN_CHARACTERS) return;
  throw new Refusal(
    `the pattern has ${pattern.length} characters, at most ${MAX_PATTERN_CHARACTERS} are taken`,
  );
}

function toOptions(
  { pattern, ignoreCase }: Call,
  glob: string | undefined,
  { isFolder }: SearchRoot,
): string[] {
  const options = ["--null", "--line-number", "--no-heading", "--with-filename"];
  options.push(`--max-columns=${MAX_LINE_BYTES}`, "--max-columns-preview", `--regexp=${pattern}`);
  options.push(ignoreCase ? "--ignore-case" : "--case-sensitive");
  if (!isFolder) return options;
  options.push(`--max-filesize=${MAX_FILE_MEGABYTES}M`);
  // A file type only narrows what .gitignore leaves over, where ripgrep's own glob option would bring ignored files back.
  const name = glob && toNameGlob(glob);
  if (name) options.push(`--type-add=wanted:${name}`, "--type=wanted");
  return options;
}

function toFileFilter(glob: string | undefined, { isFolder }: SearchRoot): (relative: string) => boolean {
  if (glob === undefined || !isFolder) return () => true;
  return toGlobMatcher(glob, { isAnyDepth: isNamePattern(glob) });
}

function refuseFailure({ hasFailed, complaint }: SearchOutcome, lines: number): void {
  if (!hasFailed || lines > 0) return;
  if (/regex parse error|not allowed in a regex|compiled regex|unrecognized escape/i.test(complaint)) {
    throw new Refusal(`the pattern is no valid regular expression: ${complaint}`);
  }
}
