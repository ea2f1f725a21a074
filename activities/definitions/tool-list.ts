import { z } from "zod";
import { nearestName } from "../../core/names.ts";
import { type ToolName, toolNames } from "../../core/tools.ts";
import { describeValue, type Entry } from "./entries.ts";
import { type Finding, quote, refusal, warning } from "./problem.ts";

const toolListSchema = z.union([z.string(), z.array(z.string())]);

/** Names by which a tool is known, in lower case; pi searches for files with `find` and `ls`. */
const spellings = new Map<string, ToolName>([
  ...toolNames.map((name) => [name.toLowerCase(), name] as const),
  ["find", "Glob"],
  ["ls", "Glob"],
]);

/** Tools of other hosts: to forbid one of them asks for nothing here. */
const foreignTools =
  /^(?:agent|task\w*|todo\w*|web\w*|notebook\w*|multiedit|skill|killshell|bashoutput|toolsearch|lsp|exitplanmode|enterplanmode|askuserquestion|mcp__.*)$/iu;

const INSTEAD = `names out of ${toolNames.join(", ")}`;

export interface ToolList {
  /** Undefined where the value can't be understood. */
  tools: ToolName[] | undefined;
  findings: Finding[];
}

/** Read `tools`: unknown and scoped names are dropped with a warning, never widened; nothing left is refused. */
export function readTools(entry: Entry): ToolList {
  const words = toWords(entry);
  if (!Array.isArray(words)) return { tools: undefined, findings: [words] };
  const granted = new Set<ToolName>();
  const findings: Finding[] = [];
  for (const word of words) {
    const tool = spellings.get(word.toLowerCase());
    if (word === "*") for (const name of toolNames) granted.add(name);
    else if (tool !== undefined) granted.add(tool);
    else
      findings.push(warning(entry.line, entry.key, `${quote(word)} is no tool here and is dropped`, INSTEAD));
  }
  if (granted.size > 0) return { tools: inOrder(granted), findings };
  const nothing = refusal(entry.line, entry.key, "names no tool that exists here", `${INSTEAD}, or *`);
  return { tools: undefined, findings: [...findings, nothing] };
}

/**
 * Read `disallowedTools`. It limits, so nothing in it is dropped where that could widen: a scoped name forbids the whole tool, and a
 * word that looks like a slip of one of the tools' names is refused.
 */
export function readDisallowedTools(entry: Entry): ToolList {
  const empty = entry.value === null || (Array.isArray(entry.value) && entry.value.length === 0);
  if (empty) {
    return {
      tools: [],
      findings: [warning(entry.line, entry.key, "forbids nothing", "nothing: leave this key out")],
    };
  }
  const words = toWords(entry);
  if (!Array.isArray(words)) return { tools: undefined, findings: [words] };
  const forbidden = new Set<ToolName>();
  const findings: Finding[] = [];
  for (const word of words) {
    const [, base = word, scope] = /^([\w*]+)(\(.*\))$/su.exec(word) ?? [];
    const tool = spellings.get(base.toLowerCase());
    if (base === "*") for (const name of toolNames) forbidden.add(name);
    else if (tool !== undefined) forbidden.add(tool);
    else if (!foreignTools.test(base)) findings.push(judgeUnknown(entry, word));
    if (tool !== undefined && scope !== undefined) {
      const message = `${quote(word)} forbids all of ${tool}: calls can't be told apart here`;
      findings.push(warning(entry.line, entry.key, message, tool));
    }
  }
  const isRefused = findings.some((finding) => finding.severity === "error");
  return { tools: isRefused ? undefined : inOrder(forbidden), findings };
}

function judgeUnknown(entry: Entry, word: string): Finding {
  if (/^(?:all|any|every\w*)$/iu.test(word)) {
    return refusal(entry.line, entry.key, `${quote(word)} is no tool here`, "*, if all are meant");
  }
  const nearest = nearestName(word, [...spellings.keys()]);
  const tool = nearest === undefined ? undefined : spellings.get(nearest);
  if (tool === undefined) {
    return warning(entry.line, entry.key, `${quote(word)} is no tool here: nothing to forbid`, INSTEAD);
  }
  return refusal(entry.line, entry.key, `${quote(word)} is no tool here; ${tool} may be meant`, tool);
}

/** A comma string, a YAML list and a flow list mean the same. */
function toWords(entry: Entry): string[] | Finding {
  const parsed = toolListSchema.safeParse(entry.value);
  const refuse = () =>
    refusal(entry.line, entry.key, describeList(entry), `${INSTEAD}, as a list or with commas`);
  if (!parsed.success) return refuse();
  const texts = typeof parsed.data === "string" ? [stripBrackets(parsed.data)] : parsed.data;
  if (texts.some((text) => /^\s*[[{]/u.test(text))) return refuse();
  const words = texts.flatMap((text) => splitAtCommas(text)).filter((word) => word !== "");
  return words.length > 0 ? words : refuse();
}

function describeList(entry: Entry): string {
  if (!Array.isArray(entry.value)) return describeValue(entry);
  if (entry.value.length === 0) return "is an empty list";
  return "is a list that holds something other than names";
}

function stripBrackets(text: string): string {
  return /^\s*\[([^[\]]*)\]\s*$/u.exec(text)?.[1] ?? text;
}

/** Commas inside of round brackets belong to a scoped name such as `Bash(git add, git commit)`. */
function splitAtCommas(text: string): string[] {
  const words = text.match(/(?:\([^()]*\)|[^,])+/gu) ?? [];
  return words.map((word) =>
    word
      .trim()
      .replace(/^(["'])(.*)\1$/su, "$2")
      .trim(),
  );
}

function inOrder(tools: ReadonlySet<ToolName>): ToolName[] {
  return toolNames.filter((name) => tools.has(name));
}
