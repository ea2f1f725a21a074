import type { DefinitionProblem } from "../../core/definition.ts";
import { toOneLine } from "../../core/text.ts";

/** What is odd about a document, before its file is known. */
export type Finding = Omit<DefinitionProblem, "file">;

/** Quote a text out of a document for a message: one line, escaped, short. */
export function quote(text: string): string {
  return `"${toOneLine(text, 60)}"`;
}

/** Make a finding that takes the document, and its name, out of force. */
export function refusal(line: number, key: string, message: string, instead: string): Finding {
  return { line, key, severity: "error", message, instead };
}

/** Make a finding that leaves the document in force. */
export function warning(line: number, key: string, message: string, instead: string): Finding {
  return { line, key, severity: "warning", message, instead };
}

/** Name a failed operation by its code, such as ENOENT. */
export function toErrorCode(error: unknown): string {
  const isCoded = typeof error === "object" && error !== null && "code" in error;
  return isCoded ? String(error.code) : String(error);
}
