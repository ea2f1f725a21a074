import { bound, escapeControls } from "../../core/text.ts";

const SHOWN_PATH_CHARACTERS = 1_000;

/** A reason to answer the model with, instead of doing the work. Its message is written for the model. */
export class Refusal extends Error {
  override name = "Refusal";
}

/** Bring a path onto one harmless line of at most 1,000 characters. */
export function showPath(path: string): string {
  return bound(escapeControls(path), SHOWN_PATH_CHARACTERS, (leftOut) => `… (${leftOut} more characters)`);
}

/** Read the code of a failed system call, "" for any other error. */
export function toErrorCode(error: unknown): string {
  if (typeof error !== "object" || error === null || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}
