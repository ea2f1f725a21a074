import { constants } from "node:fs";
import { access, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { findKey } from "../../activities/models/find-key.ts";
import type { CatalogueRequest } from "../../core/definition.ts";
import { toStateFolder } from "../../core/state-folder.ts";
import { loadCatalogueForHost } from "../catalogue.ts";
import { findModelProblem } from "../model-check.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

/** See that agents can work in a folder. */
export async function checkWorkspace(workspace: string): Promise<Finding[]> {
  const check = "workspace";
  const found = await stat(workspace).catch(() => undefined);
  if (!found?.isDirectory())
    return [problem(check, `${workspace} is no folder`, "name one that exists by --workspace")];
  const canWrite = await access(workspace, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!canWrite)
    return [
      warning(
        check,
        `${workspace} can't be written: agents can only read there`,
        "make it writable, or name another by --workspace",
      ),
    ];
  const isRepository = await stat(path.join(workspace, ".git")).catch(() => undefined);
  return [ok(check, `${workspace}: writable${isRepository ? ", a git repository" : ""}`)];
}

/** See what is odd about the definitions in force. Their prompts go to a folder that is removed again. */
export async function checkDefinitions(request: CatalogueRequest): Promise<Finding[]> {
  const check = "definitions";
  const folder = await mkdtemp(path.join(tmpdir(), "subagents-doctor-"));
  try {
    const { definitions, problems } = await loadCatalogueForHost(
      request,
      toStateFolder({ XDG_STATE_HOME: folder }, undefined),
    );
    const names = definitions.map(({ name }) => name).join(", ");
    const errors = problems.filter(({ severity }) => severity === "error");
    const refused = new Set(errors.map(({ file }) => file)).size;
    const odd = problems.length - errors.length;
    const said = [
      ...(refused > 0 ? [`${refused} refused`] : []),
      ...(odd > 0 ? [`${odd} with a remark`] : []),
    ].join(", ");
    if (said === "") return [ok(check, `in force: ${names}`)];
    return [
      warning(check, `in force: ${names}; ${said}`, "see file and line of what is odd", toListing(request)),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The command that lists the same definitions. */
function toListing({ workspace, directories, projectAgents }: CatalogueRequest): string[] {
  return [
    "agents",
    ...(workspace === process.cwd() ? [] : ["--workspace", workspace]),
    ...directories.flatMap((directory) => ["--agents", directory]),
    ...(projectAgents ? ["--project-agents"] : []),
  ];
}

/** What is asked about models. */
export interface ModelQuestion {
  /** PROVIDER/MODEL that must be there. */
  model: { provider: string; id: string } | undefined;
  /** Usual key variables and their providers. */
  keyVariables: Readonly<Record<string, string>>;
}

/** See which keys are there, by their names alone, and that a model is known. Asks no provider. */
export async function checkModel(
  { model, keyVariables }: ModelQuestion,
  environment: NodeJS.ProcessEnv,
): Promise<Finding[]> {
  const check = "model";
  const found = Object.entries(keyVariables).filter(([variable]) => environment[variable]?.trim());
  const keys = found.map(([variable, provider]) => `${variable} (${provider}/...)`).join(", ");
  if (model === undefined) {
    if (found.length > 0) return [ok(check, `keys in the environment: ${keys}; not tried`)];
    const usual = Object.keys(keyVariables).slice(0, 4).join(", ");
    return [
      warning(
        check,
        "none of the usual key variables is set",
        `set the one of your provider (${usual}, ...), where the worker runs; or use --base-url or --script; without a key there is`,
        ["run", "--example"],
      ),
    ];
  }
  const label = `${model.provider}/${model.id}`;
  const reason = await findModelProblem({ kind: "provider", ...model });
  if (reason !== undefined)
    return [problem(check, reason, "see docs/models.md for what can be given as --model")];
  const key = await findKey(model.provider, environment);
  if (key === undefined || "source" in key)
    return [
      ok(
        check,
        `${label} is known${key === undefined ? "" : `, its key comes from ${key.source}`}; not tried`,
      ),
    ];
  return [
    problem(
      check,
      `${label} is known, but there is no key for it`,
      `set one of ${key.lookedFor.join(", ")}, where the worker runs`,
    ),
  ];
}
