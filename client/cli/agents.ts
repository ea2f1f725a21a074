import type { Catalogue, Definition, DefinitionProblem, ModelSource } from "../../core/definition.ts";
import { toModelLabel } from "../../core/definition.ts";
import { loadCatalogueForHost } from "../../worker/catalogue.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import type { Host } from "./host.ts";
import { parseModelAliases, parseModelReference } from "./model-flags.ts";
import { type DefinitionFlags, toFolder } from "./session-flags.ts";
import { toTable } from "./table.ts";

export interface AgentsFlags extends DefinitionFlags {
  /** The session's model that bare model names would be looked up by. */
  model?: string;
  strict: boolean;
}

/** List the definitions in force and everything that is odd about the documents. Needs neither server nor worker. */
export async function agents(flags: AgentsFlags, host: Host): Promise<ExitCode> {
  const catalogue = await loadCatalogueForHost(
    {
      workspace: toFolder(flags.workspace, "--workspace"),
      directories: flags.agents.map((folder) => toFolder(folder, "--agents")),
      projectAgents: flags.projectAgents,
      modelAliases: parseModelAliases(flags.modelAlias),
      sessionModel: toSessionModel(flags.model),
    },
    host.stateFolder,
  );
  const { definitions, problems } = catalogue;
  host.output.event({ type: "agents", definitions: definitions.map(toJson), problems });
  host.output.print(toText(catalogue));
  const hasErrors = problems.some(({ severity }) => severity === "error");
  return flags.strict && hasErrors ? exitCodes.failed : exitCodes.completed;
}

/** Without a model no provider's families are known: a bare name is listed as unresolved. */
function toSessionModel(model: string | undefined): ModelSource {
  return model === undefined
    ? { kind: "script", file: "" }
    : { kind: "provider", ...parseModelReference(model, "--model") };
}

function toJson(definition: Definition) {
  const { name, description, tools, permission, source, file } = definition;
  const { maxTurns = null, idleTimeoutSeconds = null, maxDurationSeconds = null } = definition;
  const model = toModelText(definition.model) ?? null;
  return {
    name,
    description,
    tools,
    permission,
    model,
    maxTurns,
    idleTimeoutSeconds,
    maxDurationSeconds,
    source,
    file,
  };
}

function toModelText(model: Definition["model"]): string | undefined {
  if (model === undefined) return undefined;
  return model.kind === "unresolved" ? `unresolved: ${model.pin} (${model.reason})` : toModelLabel(model);
}

function toText({ definitions, problems }: Catalogue): string {
  const rows = definitions.map((definition) => [
    definition.name,
    definition.tools.join(", "),
    definition.permission,
    toModelText(definition.model) ?? "the session's",
    definition.source === "builtin" ? "built in" : definition.file,
    definition.description,
  ]);
  const list =
    rows.length === 0
      ? "No definitions are in force."
      : toTable([["agent", "tools", "permission", "model", "from", "description"], ...rows]);
  return [list, ...problems.map(toProblemText)].join("\n");
}

function toProblemText({ file, line, key, severity, message, instead }: DefinitionProblem): string {
  const place = [file, ...(line > 0 ? [String(line)] : [])].join(":");
  return `${severity}: ${place}: ${key === "" ? "" : `${key}: `}${message}${instead === "" ? "" : `; write ${instead}`}`;
}
