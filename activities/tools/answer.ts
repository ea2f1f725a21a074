import { bound } from "../../core/text.ts";
import { Refusal, showPath, toErrorCode } from "../paths/refusal.ts";
import type { ToolResult } from "./tool.ts";

/** What a file tool gives the model to read at most, notes of its own included. */
export const MAX_ANSWER_BYTES = 50 * 1024;
/** Backstop in characters for every answer: pages are bounded before, each by its own rule. */
const MAX_ANSWER_CHARACTERS = 60_000;

const failures: Record<string, string> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file would be larger than the system allows",
  EACCES: "permission denied",
  EPERM: "the system does not permit it",
  EROFS: "the file system is read-only",
  ENOENT: "it does not exist",
  ENOTDIR: "a part of the path is a file, not a directory",
  ELOOP: "it became a symbolic link meanwhile",
  ENAMETOOLONG: "the name is too long",
  EMFILE: "too many files are open",
  ENXIO: "nobody is at the other end of this special file",
};

function toAnswer(text: string): ToolResult {
  return { text: toBounded(text), isError: false };
}

/** Run a tool's work; a refusal, a failed system call and a stop become answers. */
export async function answering(
  signal: AbortSignal,
  work: () => Promise<ToolResult | string>,
): Promise<ToolResult> {
  try {
    signal.throwIfAborted();
    const result = await work();
    return typeof result === "string" ? toAnswer(result) : result;
  } catch (error) {
    return { text: toBounded(toProblem(error, signal)), isError: true };
  }
}

/** Join what is there of the parts of an answer, one a line. */
export function joinLines(...parts: Array<string | undefined>): string {
  return parts.filter((part) => part !== undefined && part !== "").join("\n");
}

/** Show a count of bytes as a person reads it. */
export function showBytes(bytes: number | bigint): string {
  const count = Number(bytes);
  if (count < 1024) return `${count} bytes`;
  const [unit, divisor] =
    count < 1024 ** 2 ? ["KB", 1024] : count < 1024 ** 3 ? ["MB", 1024 ** 2] : ["GB", 1024 ** 3];
  return `${(count / Number(divisor)).toFixed(1)} ${unit} (${count} bytes)`;
}

function toProblem(error: unknown, signal: AbortSignal): string {
  if (error instanceof Refusal) return error.message;
  if (signal.aborted) return "stopped before it was done";
  const code = toErrorCode(error);
  const message = error instanceof Error ? error.message : String(error);
  const reason = failures[code] ?? message;
  return code === "" ? `the tool failed: ${reason}` : `failed, ${code}: ${reason}${toFailedPath(error)}`;
}

function toFailedPath(error: unknown): string {
  const path = typeof error === "object" && error !== null && "path" in error ? error.path : undefined;
  // A path below an open handle says nothing to the reader.
  return typeof path === "string" && !path.startsWith("/proc/self/fd/") ? ` (${showPath(path)})` : "";
}

function toBounded(text: string): string {
  return bound(
    text.replaceAll("\0", "␀"),
    MAX_ANSWER_CHARACTERS,
    (leftOut) => `\n[${leftOut} characters left out]`,
  );
}
