import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from "yaml";
import { normalizeKey } from "./keys.ts";
import { type Finding, quote, refusal, warning } from "./problem.ts";

/** One key of a frontmatter with its value as plain data. */
export interface Entry {
  /** As written. */
  key: string;
  line: number;
  value: unknown;
  /** The value's own spelling where it is a single one: `007` stays `007`. */
  text: string | undefined;
}

/** The keys of a frontmatter, or undefined where it is refused. */
export interface Entries {
  entries: Entry[] | undefined;
  findings: Finding[];
}

const MAX_DEPTH = 16;
const MAX_ALIASES = 20;
const PLAIN_LINE = /^([A-Za-z][\w -]*?)[ \t]*:(?:[ \t]+(.*))?$/u;

/**
 * Read a frontmatter as YAML. One that YAML refuses is read once more as plain `key: text` lines, with a warning, only if every line
 * is one; else it is refused with YAML's own first complaint.
 */
export function readEntries(yaml: string, firstLine: number): Entries {
  const lineCounter = new LineCounter();
  const document = parseDocument(quoteBareStars(yaml), {
    lineCounter,
    logLevel: "silent",
    prettyErrors: false,
    // Comparing every key with every other takes seconds for some thousands; the reader of keys finds doubles itself.
    uniqueKeys: false,
  });
  const toLine = (offset: number) => firstLine - 1 + Math.max(1, lineCounter.linePos(offset).line);
  const excess = findExcess(document);
  if (excess !== undefined) {
    return { entries: undefined, findings: [refusal(firstLine, "", excess, "plain values")] };
  }
  const error = document.errors[0] ?? findLooseAlias(document);
  if (error === undefined) return readDocumentEntries(document, toLine, firstLine);
  const line = toLine(error.pos[0]);
  const key = PLAIN_LINE.exec(yaml.split("\n")[line - firstLine] ?? "")?.[1] ?? "";
  const plain = readPlainLines(yaml, firstLine);
  if (plain === undefined) {
    const instead = "valid YAML: quotes around a text with a colon and a blank, blanks for indentation";
    const message = `is not valid YAML: ${error.message}`;
    return { entries: undefined, findings: [refusal(line, key, message, instead)] };
  }
  const message = `is not valid YAML (${error.message}) and was read as plain lines`;
  return { entries: plain, findings: [warning(line, key, message, "quotes around the text")] };
}

function readDocumentEntries(
  document: Document.Parsed,
  toLine: (offset: number) => number,
  firstLine: number,
): Entries {
  const contents = document.contents;
  if (contents === null) return { entries: [], findings: [] };
  if (!isMap(contents)) {
    return { entries: undefined, findings: [refusal(firstLine, "", "holds no keys", "lines of key: value")] };
  }
  const findings = document.warnings.map((odd) =>
    warning(toLine(odd.pos[0]), "", odd.message, "a plain value"),
  );
  const entries: Entry[] = [];
  for (const pair of contents.items) {
    const offset = pair.key.range?.[0] ?? 0;
    if (!isScalar(pair.key)) {
      findings.push(warning(toLine(offset), "", "a key is not a plain word and is ignored", "key: value"));
      continue;
    }
    const node = isAlias(pair.value) ? pair.value.resolve(document) : pair.value;
    const key = pair.key.source ?? String(pair.key.value);
    const value: unknown = node?.toJS(document, { maxAliasCount: MAX_ALIASES }) ?? null;
    const text = isScalar(node) ? (node.source ?? String(node.value ?? "")) : undefined;
    entries.push({ key, line: toLine(offset), value, text });
  }
  return { entries, findings };
}

function findExcess(document: Document.Parsed): string | undefined {
  if (document.errors.some(({ code }) => code === "RESOURCE_EXHAUSTION")) return "is nested too deeply";
  let aliases = 0;
  let depth = 0;
  visit(document, (_key, node, path) => {
    if (isAlias(node)) aliases++;
    depth = Math.max(depth, path.length / 2);
    return aliases > MAX_ALIASES || depth > MAX_DEPTH ? visit.BREAK : undefined;
  });
  if (aliases > MAX_ALIASES) return `holds more than ${MAX_ALIASES} aliases`;
  return depth > MAX_DEPTH ? "is nested too deeply" : undefined;
}

/** The parser lets an alias without an anchor pass: a text in Markdown's asterisks looks like one. */
function findLooseAlias(document: Document.Parsed): { pos: [number]; message: string } | undefined {
  let offset: number | undefined;
  visit(document, {
    Alias: (_key, alias) => {
      if (alias.resolve(document) !== undefined) return undefined;
      offset = alias.range?.[0] ?? 0;
      return visit.BREAK;
    },
  });
  return offset === undefined
    ? undefined
    : { pos: [offset], message: "Alias of an anchor that does not exist" };
}

function readPlainLines(yaml: string, firstLine: number): Entry[] | undefined {
  const entries: Entry[] = [];
  for (const [index, line] of yaml.split("\n").entries()) {
    if (line.trim() === "") continue;
    const match = PLAIN_LINE.exec(line);
    if (match === null) return undefined;
    const [, key = "", written = ""] = match;
    entries.push({ key, line: firstLine + index, ...readPlainValue(written.trim()) });
  }
  return entries;
}

/** A value that YAML takes on its own keeps its YAML meaning; any other is the text that stands there. */
function readPlainValue(written: string): { value: unknown; text: string | undefined } {
  const document = parseDocument(written, { logLevel: "silent", prettyErrors: false });
  const node = document.contents;
  const isUsable = document.errors.length === 0 && document.warnings.length === 0;
  if (isUsable && node === null) return { value: null, text: "" };
  if (isUsable && isScalar(node)) return { value: node.value, text: node.source ?? written };
  const isList = isUsable && isSeq(node) && written.startsWith("[") && node.items.every(isScalar);
  return isList ? { value: node.toJS(document), text: undefined } : { value: written, text: written };
}

/** YAML reads a bare star as a broken alias; for tools it is taken as meant. */
function quoteBareStars(yaml: string): string {
  let isToolList = false;
  const lines = yaml.split("\n").map((line) => {
    const [, head = "", key = "", rest = ""] = /^(([A-Za-z_ -]+?)[ \t]*:)(.*)$/u.exec(line) ?? [];
    if (head !== "") isToolList = ["tools", "disallowedtools"].includes(normalizeKey(key));
    if (!isToolList) return line;
    if (head === "") return line.replace(/^(\s*-[ \t]+)\*(?=\s*(?:#.*)?$)/u, '$1"*"');
    return head + rest.replace(/(^[ \t]+|[[,][ \t]*)\*(?=[ \t]*(?:[\],]|$|[ \t]#))/gu, '$1"*"');
  });
  return lines.join("\n");
}

/** Describe a value that is no text for a message. */
export function describeValue(entry: Entry): string {
  if (entry.text !== undefined) return entry.text.trim() === "" ? "is empty" : `is ${quote(entry.text)}`;
  return Array.isArray(entry.value) ? "is a list" : "is a map";
}
