import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { bundleWorkflowCode } from "@temporalio/worker";

export interface WorkflowBundle {
  code: string;
}

let bundle: Promise<WorkflowBundle> | undefined;

/**
 * Bundle our workflows, once a process: two workers and every replay share it. A bundle of the very same sources that was made before is read from
 * the cache, which saves a restarted worker some seconds.
 */
export function bundleWorkflows(): Promise<WorkflowBundle> {
  bundle ??= findBundle();
  return bundle;
}

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL("..", import.meta.url));
const extension = import.meta.url.endsWith(".ts") ? ".ts" : ".js";

async function findBundle(): Promise<WorkflowBundle> {
  const folder = path.join(root, extension === ".ts" ? "node_modules" : "..", ".cache", "temporal-subagents");
  const file = path.join(folder, `workflows-${await hashSources()}.js`);
  const cached = await readFile(file, "utf8").catch(() => undefined);
  if (cached !== undefined) return { code: cached };
  const workflowsPath = path.join(root, "workflows", `index${extension}`);
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: quiet });
  // Where nothing can be kept, it is made again next time.
  await keep(folder, file, code).catch(() => undefined);
  return { code };
}

/** What a bundle depends on: our sources, and the SDK that bundles and runs them. */
async function hashSources(): Promise<string> {
  const hash = createHash("sha256");
  for (const folder of ["core", "workflows"]) {
    const names = (await readdir(path.join(root, folder), { recursive: true })).filter((name) =>
      name.endsWith(extension),
    );
    for (const name of names.toSorted())
      hash
        .update(name)
        .update("\0")
        .update(await readFile(path.join(root, folder, name)));
  }
  for (const name of ["@temporalio/worker", "@temporalio/workflow", "zod"]) {
    hash.update(await readFile(require.resolve(`${name}/package.json`)));
  }
  return hash.digest("hex").slice(0, 32);
}

async function keep(folder: string, file: string, code: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, code);
  await rename(draft, file);
}

const nothing = () => undefined;
const quiet = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing, log: nothing };
