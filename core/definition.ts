import { z } from "zod";
import { permissionScopes } from "./permissions.ts";
import { type ToolName, toolNames } from "./tools.ts";

/** A definition's prompt in UTF-8: far above any prompt that a model follows, and small enough to read at every turn. */
export const MAX_PROMPT_BYTES = 256 * 1_024;
/** A definition's description in UTF-16 code units, its mark of a cut included: sixteen of them travel with every turn. */
export const MAX_DEFINITION_DESCRIPTION_CHARACTERS = 1_024;
/** A definition without `tools` gets these: it can read and can change nothing. */
export const defaultTools = ["Read", "Glob", "Grep"] as const satisfies readonly ToolName[];

export const thinkingLevels = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export const thinkingLevelSchema = z.enum(thinkingLevels);
export type ThinkingLevel = z.infer<typeof thinkingLevelSchema>;

/** Where a definition came from, in rising rank except that a repository's never shadow another. */
const definitionSources = ["project", "builtin", "user", "directory"] as const;
export type DefinitionSource = (typeof definitionSources)[number];

/** Where the words come from: a provider's model, an OpenAI-compatible server, or a script file (pi-ai's scripted provider). */
export const modelSourceSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("provider"),
    provider: z.string(),
    id: z.string(),
    /** Root of an OpenAI-compatible API, such as `http://127.0.0.1:8080/v1`. */
    baseUrl: z.string().optional(),
  }),
  z.object({
    kind: z.literal("script"),
    /** Absolute path of the script file on the worker's host. */
    file: z.string(),
  }),
]);
export type ModelSource = z.infer<typeof modelSourceSchema>;

/** Name a model as a person writes it: `<provider>/<id>`, or `script <file>`. */
export function toModelLabel(model: ModelSource): string {
  return model.kind === "script" ? `script ${model.file}` : `${model.provider}/${model.id}`;
}

/**
 * A definition in force, without its prompt: the prompt's text lies in the state folder under its hash, so that sixteen
 * documents of 256 KiB never travel through a history.
 */
export const definitionSchema = z.object({
  name: z.string(),
  description: z.string(),
  tools: z.array(z.enum(toolNames)),
  permission: z.enum(permissionScopes),
  /** Absent: the session's own model. */
  model: z
    .union([
      modelSourceSchema,
      z.object({ kind: z.literal("unresolved"), pin: z.string(), reason: z.string() }),
    ])
    .optional(),
  thinkingLevel: thinkingLevelSchema.optional(),
  /** Turns after which one closing turn follows; absent: none. */
  maxTurns: z.number().int().positive().optional(),
  idleTimeoutSeconds: z.number().optional(),
  maxDurationSeconds: z.number().optional(),
  source: z.enum(definitionSources),
  file: z.string(),
  /** SHA-256 of the prompt's UTF-8 bytes, lower-case hex. */
  promptSha256: z.string(),
});
export type Definition = z.infer<typeof definitionSchema>;

/** One thing that is odd about a definition document. */
export interface DefinitionProblem {
  file: string;
  /** 1-based; 0 where the document as a whole is meant. */
  line: number;
  /** The key as written, or "" where none is meant. */
  key: string;
  /** An error takes the document, and its name, out of force; a warning does not. */
  severity: "error" | "warning";
  message: string;
  /** What to write instead. */
  instead: string;
}

export interface Catalogue {
  definitions: Definition[];
  problems: DefinitionProblem[];
}

/** Where to look for definitions, and how bare model names are read. */
const catalogueRequestSchema = z.object({
  workspace: z.string(),
  /** Directories given by flag, absolute; the later ranks first. */
  directories: z.array(z.string()),
  /** Whether the workspace's own `.agents/subagents` is read. */
  projectAgents: z.boolean(),
  /** `NAME` to `PROVIDER/MODEL`, from `--model-alias`. */
  modelAliases: z.record(z.string(), z.string()),
  /** The session's model: a bare model name is looked up among its provider's families. */
  sessionModel: modelSourceSchema,
});
export type CatalogueRequest = z.infer<typeof catalogueRequestSchema>;
