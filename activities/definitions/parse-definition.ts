import {
  type Definition,
  type DefinitionSource,
  defaultTools,
  MAX_DEFINITION_DESCRIPTION_CHARACTERS,
  MAX_PROMPT_BYTES,
} from "../../core/definition.ts";
import { findNameFault, normalizeAgentName } from "../../core/names.ts";
import type { PermissionScope } from "../../core/permissions.ts";
import { toOneLine } from "../../core/text.ts";
import type { ToolName } from "../../core/tools.ts";
import { describeValue, type Entry, readEntries } from "./entries.ts";
import { guessNames, splitDocument } from "./front-matter.ts";
import { normalizeKey, type OwnKey, readKey } from "./keys.ts";
import { type Finding, quote, refusal, warning } from "./problem.ts";
import { tooLarge } from "./read-document.ts";
import { readDisallowedTools, readTools } from "./tool-list.ts";
import {
  type Reading,
  readIdleSeconds,
  readMaxTurns,
  readModelPin,
  readPermission,
  readPermissionMode,
  readSeconds,
  readThinkingLevel,
} from "./values.ts";

/** A definition before its model is resolved and its prompt stored. */
export interface Draft extends Omit<Definition, "model" | "promptSha256" | "source" | "file"> {
  modelPin: { pin: string; key: string; line: number } | undefined;
  prompt: string;
}

export interface ParsedDocument {
  /** Undefined where the document is refused. */
  draft: Draft | undefined;
  /** The names that the document takes, in force or out of force with it. */
  names: string[];
  findings: Finding[];
}

/** The keys of one document, each at most once, and what was odd on the way. */
class Keys {
  readonly findings: Finding[] = [];
  private readonly given = new Map<string, Entry>();

  constructor(entries: readonly Entry[]) {
    for (const entry of entries) this.add(entry);
  }

  private add(entry: Entry): void {
    const meaning = readKey(entry.key);
    const { key, line } = entry;
    const identity = meaning.kind === "own" ? meaning.key : normalizeKey(key);
    const first = this.given.get(identity);
    if (first !== undefined) {
      const message = `is the same key as ${quote(first.key)} on line ${first.line}`;
      this.findings.push(refusal(line, key, message, "one of the two"));
      return;
    }
    this.given.set(identity, entry);
    if (meaning.kind === "limiting") {
      this.findings.push(warning(line, key, "limits elsewhere and does nothing here", meaning.instead));
    } else if (meaning.kind === "unknown") {
      const instead =
        meaning.nearest === undefined
          ? "nothing: leave this key out"
          : `${meaning.nearest}:, if that is meant`;
      this.findings.push(warning(line, key, "is an unknown key and is ignored", instead));
    }
  }

  get(key: OwnKey): Entry | undefined {
    return this.given.get(key);
  }

  /** Read a key where it is given, and keep what was found. */
  read<Value>(key: OwnKey, reader: (entry: Entry) => Reading<Value>): Value | undefined {
    const entry = this.given.get(key);
    if (entry === undefined) return undefined;
    const { value, findings } = reader(entry);
    this.findings.push(...findings);
    return value;
  }
}

/** Parse one document. `stem` is its file name without `.md`: its name where it does not declare one. */
export function parseDefinition(text: string, stem: string, source: DefinitionSource): ParsedDocument {
  const parts = splitDocument(text);
  if ("severity" in parts) return refuseDocument(text, stem, [parts]);
  const { entries, findings } = readEntries(parts.yaml, parts.firstLine);
  if (entries === undefined) return refuseDocument(text, stem, [...parts.findings, ...findings]);
  const keys = new Keys(entries);
  const draft = readDraft(keys, stem, toPrompt(parts.body), source, parts.firstLine);
  const all = [...parts.findings, ...findings, ...keys.findings].sort(
    (left, right) => left.line - right.line,
  );
  if (all.some((finding) => finding.severity === "error")) return refuseDocument(text, stem, all, entries);
  return { draft, names: [draft.name], findings: all };
}

/** Refuse a document: it takes every name that it may have meant, or its file's, out of force. */
export function refuseDocument(
  text: string,
  stem: string,
  findings: Finding[],
  entries: readonly Entry[] = [],
): ParsedDocument {
  const declared = entries
    .filter((entry) => normalizeKey(entry.key) === "name")
    .map((entry) => entry.text ?? "");
  const candidates = declared.length > 0 ? declared : guessNames(text);
  const valid = candidates.map(normalizeAgentName).filter((name) => findNameFault(name) === undefined);
  return {
    draft: undefined,
    names: valid.length > 0 ? [...new Set(valid)] : [normalizeAgentName(stem)],
    findings,
  };
}

function readDraft(
  keys: Keys,
  stem: string,
  prompt: string,
  source: DefinitionSource,
  firstLine: number,
): Draft {
  const modelEntry = keys.get("model");
  const pin = keys.read("model", readModelPin);
  const thinkingLevel = keys.read("thinkingLevel", readThinkingLevel);
  const maxTurns = keys.read("maxTurns", readMaxTurns);
  const idleTimeoutSeconds = keys.read("idleTimeoutSeconds", readIdleSeconds);
  const maxDurationSeconds = keys.read("maxDurationSeconds", readSeconds);
  if (prompt === "") {
    keys.findings.push(refusal(0, "", "has no prompt", "the delegate's instructions after the frontmatter"));
  }
  if (Buffer.byteLength(prompt) > MAX_PROMPT_BYTES) keys.findings.push(tooLarge());
  return {
    name: readName(keys, stem),
    description: readDescription(keys, firstLine - 1),
    tools: readGrantedTools(keys),
    permission: readScope(keys, source),
    ...(thinkingLevel !== undefined && { thinkingLevel }),
    ...(maxTurns !== undefined && { maxTurns }),
    ...(idleTimeoutSeconds !== undefined && { idleTimeoutSeconds }),
    ...(maxDurationSeconds !== undefined && { maxDurationSeconds }),
    modelPin:
      pin === undefined ? undefined : { pin, key: modelEntry?.key ?? "", line: modelEntry?.line ?? 0 },
    prompt,
  };
}

function readName(keys: Keys, stem: string): string {
  const entry = keys.get("name");
  const isEmpty = entry?.text !== undefined && entry.text.trim() === "";
  if (entry !== undefined && isEmpty) {
    keys.findings.push(warning(entry.line, entry.key, "is empty; the file's name is taken", "a name"));
  }
  const isDeclared = entry !== undefined && !isEmpty;
  const name = normalizeAgentName(isDeclared ? (entry.text ?? "") : stem);
  const fault = isDeclared && entry.text === undefined ? describeValue(entry) : findNameFault(name);
  if (fault !== undefined) {
    const instead = "letters, digits, dots and dashes";
    const message = `the name ${isDeclared ? "" : "of the file "}${fault}`;
    keys.findings.push(refusal(entry?.line ?? 0, entry?.key ?? "", message, instead));
  }
  return name;
}

function readDescription(keys: Keys, line: number): string {
  const entry = keys.get("description");
  const whole = toOneLine(entry?.text ?? "", Number.POSITIVE_INFINITY);
  if (whole === "") {
    const message = entry === undefined ? "has no description" : describeValue(entry);
    const instead = "description: with a sentence that says when to use the delegate";
    keys.findings.push(refusal(entry?.line ?? line, entry?.key ?? "", message, instead));
  }
  const limit = MAX_DEFINITION_DESCRIPTION_CHARACTERS;
  if (entry !== undefined && whole.length > limit) {
    const message = `has ${whole.length} characters and is cut to ${limit}`;
    keys.findings.push(warning(entry.line, entry.key, message, "a shorter description"));
  }
  return toOneLine(whole, limit);
}

function readGrantedTools(keys: Keys): ToolName[] {
  const toReading = ({ tools, findings }: ReturnType<typeof readTools>) => ({ value: tools, findings });
  const granted = keys.read("tools", (entry) => toReading(readTools(entry))) ?? [...defaultTools];
  const forbidden = keys.read("disallowedTools", (entry) => toReading(readDisallowedTools(entry))) ?? [];
  const left = granted.filter((tool) => !forbidden.includes(tool));
  const entry = keys.get("disallowedTools");
  if (left.length === 0 && entry !== undefined) {
    keys.findings.push(refusal(entry.line, entry.key, "forbids every tool that is granted", "fewer of them"));
  }
  return left;
}

function readScope(keys: Keys, source: DefinitionSource): PermissionScope {
  const own = keys.read("permission", readPermission);
  const foreign = keys.read("permissionMode", readPermissionMode);
  const entry = keys.get("permission") ?? keys.get("permissionMode");
  if (own !== undefined && foreign !== undefined && own !== foreign && entry !== undefined) {
    const message = `says ${own} where permissionMode says ${foreign}`;
    keys.findings.push(refusal(entry.line, entry.key, message, "one of the two"));
  }
  const scope = own ?? foreign ?? "inherit";
  if (source === "project" && scope !== "inherit" && entry !== undefined) {
    const message = "a repository's own definition can't declare a permission scope";
    keys.findings.push(refusal(entry.line, entry.key, message, "nothing: leave this key out"));
  }
  return scope;
}

function toPrompt(body: string): string {
  return body.replace(/^(?:[^\S\n]*\n)+/u, "").trimEnd();
}
