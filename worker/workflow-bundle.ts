import { fileURLToPath } from "node:url";
import { bundleWorkflowCode, type WorkflowBundleWithSourceMap } from "@temporalio/worker";

let bundle: Promise<WorkflowBundleWithSourceMap> | undefined;

/** Bundle our workflows once a process; two workers and every replay share it. */
export function bundleWorkflows(): Promise<WorkflowBundleWithSourceMap> {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const workflowsPath = fileURLToPath(new URL(`../workflows/index.${extension}`, import.meta.url));
  bundle ??= bundleWorkflowCode({ workflowsPath, logger: quiet });
  return bundle;
}

const nothing = () => undefined;
const quiet = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing, log: nothing };
