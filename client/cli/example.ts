import { cpSync, existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { CliError } from "./cli-error.ts";
import type { RunFlags } from "./run.ts";

const PROMPT =
  "The inventory's reorder report leaves items out that are due. Find out why, repair it, have the change reviewed, and see that the tests pass.";

/** A run that works without a model: a copy of the example, its script, and a prompt. */
export interface Example {
  flags: RunFlags;
  prompt: string;
  workspace: string;
}

/** Make a fresh copy of the example's workspace, so that a run may change it. @throws CliError Example.Missing. */
export function prepareExample(flags: RunFlags): Example {
  const examples = findExamples();
  const workspace = path.join(mkdtempSync(path.join(tmpdir(), "subagents-example-")), "inventory");
  cpSync(path.join(examples, "inventory"), workspace, { recursive: true });
  const script = flags.model === undefined ? { script: path.join(examples, "inventory.script.json") } : {};
  return { flags: { ...flags, workspace, permission: "auto", ...script }, prompt: PROMPT, workspace };
}

/** The folder lies beside this one in a clone, and one further up in a package. */
function findExamples(): string {
  for (let folder = path.dirname(fileURLToPath(import.meta.url)); ; folder = path.dirname(folder)) {
    const candidate = path.join(folder, "examples");
    if (existsSync(path.join(candidate, "inventory.script.json"))) return candidate;
    if (folder === path.dirname(folder)) break;
  }
  throw new CliError(
    "Example.Missing",
    "the example is not part of this installation: use a clone of the repository",
  );
}
