import { cutAt, escapeControls, toOneLine } from "./text.ts";

/** Text of models, users and files as Markdown that means that text and nothing else, for Temporal Web. */

/** What means something anywhere in a line: marks, addresses that become links, and what is set in finer type. */
const INLINE = /[\\`*_[\]<>|~&$^]|:(?=\S)|--+|\.\.+/g;
/** Beginnings of a line that would make it a heading, a list, a rule or a table. */
const LEADING = /^(\s*)([#+\-=:]|\d+(?=[.)]))/;

/**
 * Bring a text onto one line for a summary. Temporal Web shows it as plain text in one place and as Markdown in another, so that nothing can be escaped:
 * what could become a tag, an image or a link loses its form and stays readable.
 */
export function toSummaryLine(text: string, limit: number): string {
  const harmless = text.replace(/<(?=[a-z/!?])/gi, "< ").replace(/\](?=\s*[([:])/g, "]·");
  return toOneLine(harmless, limit);
}

/** Bring a text onto one line of at most `limit` characters before its escapes; it keeps a table's cell whole. */
export function toMarkdownLine(text: string, limit: number): string {
  return escapeLine(toOneLine(text, limit));
}

/** Quote a text with its line breaks; long lines wrap. What is cut off at `limit` characters is said. */
export function toMarkdownQuote(text: string, limit: number): string {
  const lines = escapeControls(cutAt(text, limit).replace(/\r\n?/g, "\n"), { multiline: true }).split("\n");
  if (text.length > limit) lines.push(`[${text.length - limit} characters left out]`);
  // A backslash at the end of a line breaks it there.
  return lines.map((line, index) => `> ${quoteLine(line, lines[index + 1])}`.trimEnd()).join("\n");
}

function quoteLine(line: string, next: string | undefined): string {
  if (line.trim() === "") return "";
  const indent = /^[ \t]*/.exec(line)?.[0] ?? "";
  const kept = "\u00a0".repeat(indent.replaceAll("\t", "  ").length) + escapeLine(line.slice(indent.length));
  return next === undefined || next.trim() === "" ? kept : `${kept}\\`;
}

function escapeLine(line: string): string {
  return line
    .trimEnd()
    .replace(INLINE, (marks) => marks.replace(/./g, "\\$&"))
    .replace(LEADING, (_, blank: string, mark: string) =>
      /\d/.test(mark) ? `${blank}${mark}\\` : `${blank}\\${mark}`,
    );
}
