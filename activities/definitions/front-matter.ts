import { type Finding, refusal, warning } from "./problem.ts";
import { MAX_FRONT_MATTER_BYTES } from "./read-document.ts";

export interface FrontMatter {
  yaml: string;
  /** Line of the document on which `yaml` begins, from 1. */
  firstLine: number;
  body: string;
  findings: Finding[];
}

const MARK = /^---[ \t]*$/u;

/** Part a document into its frontmatter, between the first line of three dashes and the next one, and its body. */
export function splitDocument(text: string): FrontMatter | Finding {
  const lines = text.split("\n");
  const opening = lines.findIndex((line) => line.trim() !== "");
  if (opening === -1) {
    return refusal(1, "", "is empty", "frontmatter with a description, then the delegate's prompt");
  }
  if (!MARK.test(lines[opening] ?? "")) {
    return refusal(opening + 1, "", "has no frontmatter", "a first line of three dashes: ---");
  }
  const length = lines.slice(opening + 1).findIndex((line) => MARK.test(line));
  if (length === -1) {
    return refusal(opening + 1, "", "the frontmatter is never closed", "a line --- after the last key");
  }
  const yaml = lines.slice(opening + 1, opening + 1 + length).join("\n");
  if (Buffer.byteLength(yaml) > MAX_FRONT_MATTER_BYTES) {
    const limit = `${MAX_FRONT_MATTER_BYTES / 1_024} KiB`;
    return refusal(opening + 1, "", `the frontmatter is above ${limit}`, "a shorter description");
  }
  const late = warning(1, "", "blank lines stand before the frontmatter", "--- as the first line");
  return {
    yaml,
    firstLine: opening + 2,
    body: lines.slice(opening + 2 + length).join("\n"),
    findings: opening === 0 ? [] : [late],
  };
}

/**
 * Find the names that a document may have meant, even if nothing else in it can be read: a refused document takes its name out of
 * force, so its name must be known.
 */
export function guessNames(text: string): string[] {
  const head = text.slice(0, MAX_FRONT_MATTER_BYTES).split("\n");
  const closing = head.findIndex((line, index) => index > 0 && MARK.test(line));
  const lines = closing === -1 ? head : head.slice(0, closing);
  return lines.flatMap((line) => {
    const value = /^\s*["']?name["']?\s*:\s*(.*)$/iu.exec(line)?.[1];
    if (value === undefined) return [];
    return [value.replace(/\s+#.*$/u, "").replace(/^(["'])(.*)\1\s*$/u, "$2")];
  });
}
