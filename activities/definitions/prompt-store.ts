import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { decode } from "./decode.ts";
import { parseDefinition } from "./parse-definition.ts";
import { readDocument } from "./read-document.ts";

/** A definition's prompt, or why it is gone for good. */
export type PromptReading = { kind: "found"; prompt: string } | { kind: "lost"; reason: string };

/**
 * Keep a prompt as `<sha256>.md`, mode 0600, and return its hash. Idempotent and atomic: a reader sees the whole prompt or none.
 */
export async function writePrompt(promptsDirectory: string, prompt: string): Promise<string> {
  const sha256 = toSha256(prompt);
  if ((await readStored(promptsDirectory, sha256)) !== undefined) return sha256;
  await mkdir(promptsDirectory, { recursive: true, mode: 0o700 });
  const unfinished = join(promptsDirectory, `${sha256}.${randomUUID()}.unfinished`);
  try {
    const handle = await open(unfinished, "wx", 0o600);
    try {
      await handle.writeFile(prompt);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(unfinished, toPath(promptsDirectory, sha256));
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  return sha256;
}

/**
 * Read back a prompt that {@link writePrompt} kept. If it is missing or damaged, the definition's file is read again, and accepted
 * only if its prompt is still the very same.
 */
export async function readPrompt(
  promptsDirectory: string,
  { sha256, file }: { sha256: string; file: string },
): Promise<PromptReading> {
  if (!/^[0-9a-f]{64}$/u.test(sha256)) return { kind: "lost", reason: "the prompt's hash is not a SHA-256" };
  const stored = await readStored(promptsDirectory, sha256);
  if (stored !== undefined) return { kind: "found", prompt: stored };
  const { bytes, fault } = await readDocument(file);
  const lost = `the prompt of ${file} is no longer kept`;
  if (fault !== undefined) return { kind: "lost", reason: `${lost}, and the file ${fault.message}` };
  const { draft } = parseDefinition(decode(bytes).text, basename(file, ".md"), "directory");
  if (draft === undefined || toSha256(draft.prompt) !== sha256) {
    return { kind: "lost", reason: `${lost}, and the file has changed since` };
  }
  await writePrompt(promptsDirectory, draft.prompt);
  return { kind: "found", prompt: draft.prompt };
}

async function readStored(promptsDirectory: string, sha256: string): Promise<string | undefined> {
  try {
    const prompt = await readFile(toPath(promptsDirectory, sha256), "utf8");
    return toSha256(prompt) === sha256 ? prompt : undefined;
  } catch {
    return undefined;
  }
}

function toPath(promptsDirectory: string, sha256: string): string {
  return join(promptsDirectory, `${sha256}.md`);
}

function toSha256(prompt: string): string {
  return createHash("sha256").update(prompt, "utf8").digest("hex");
}
