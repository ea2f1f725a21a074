import { realpathSync, statSync } from "node:fs";
import type { ModelSource } from "../../core/definition.ts";
import { CliError } from "./cli-error.ts";

/** Flags that say where the words come from. */
export interface ModelFlags {
  model?: string;
  baseUrl?: string;
  script?: string;
}

/** Variables in which people usually keep a provider's key, and a model reference that would use it. */
export const keyVariables = {
  ANTHROPIC_API_KEY: "anthropic",
  OPENAI_API_KEY: "openai",
  GEMINI_API_KEY: "google",
  OPENROUTER_API_KEY: "openrouter",
  GROQ_API_KEY: "groq",
  MISTRAL_API_KEY: "mistral",
  XAI_API_KEY: "xai",
  DEEPSEEK_API_KEY: "deepseek",
  CEREBRAS_API_KEY: "cerebras",
} as const;

/**
 * Read where the words come from.
 *
 * @throws CliError Usage.NoModel if neither a model nor a script is given, Usage.Model, Usage.Script.
 */
export function toModelSource(flags: ModelFlags, environment: NodeJS.ProcessEnv): ModelSource {
  if (flags.script !== undefined && flags.model !== undefined) {
    throw new CliError("Usage.Model", "--model and --script exclude each other: give one of them");
  }
  if (flags.script !== undefined) return { kind: "script", file: toScriptFile(flags.script) };
  if (flags.model === undefined) throw new CliError("Usage.NoModel", toNoModelText(environment));
  const reference = parseModelReference(flags.model, "--model");
  return flags.baseUrl === undefined
    ? { kind: "provider", ...reference }
    : { kind: "provider", ...reference, baseUrl: toBaseUrl(flags.baseUrl) };
}

/** Read `PROVIDER/MODEL`; a model's id may hold further slashes. @throws CliError Usage.Model. */
export function parseModelReference(text: string, flag: string): { provider: string; id: string } {
  const slash = text.indexOf("/");
  const [provider, id] = [text.slice(0, slash).trim(), text.slice(slash + 1).trim()];
  if (slash > 0 && provider !== "" && id !== "") return { provider, id };
  throw new CliError(
    "Usage.Model",
    `${flag} is ${JSON.stringify(text)}: write PROVIDER/MODEL, such as anthropic/claude-sonnet-4-5`,
  );
}

/** Read `NAME=PROVIDER/MODEL` flags. The last one of a name counts. @throws CliError Usage.ModelAlias. */
export function parseModelAliases(flags: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    flags.map((flag) => {
      const equals = flag.indexOf("=");
      const name = flag.slice(0, equals).trim();
      if (equals <= 0 || name === "") {
        throw new CliError(
          "Usage.ModelAlias",
          `--model-alias is ${JSON.stringify(flag)}: write NAME=PROVIDER/MODEL`,
        );
      }
      const { provider, id } = parseModelReference(flag.slice(equals + 1), "--model-alias");
      return [name, `${provider}/${id}`];
    }),
  );
}

function toScriptFile(file: string): string {
  try {
    const real = realpathSync(file);
    if (statSync(real).isFile()) return real;
  } catch {
    // Said below.
  }
  throw new CliError("Usage.Script", `--script is ${JSON.stringify(file)}: there is no such file`);
}

function toBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.protocol === "http:" || url.protocol === "https:")) return text;
  throw new CliError(
    "Usage.BaseUrl",
    `--base-url is ${JSON.stringify(text)}: write the root of an OpenAI-compatible API, such as http://127.0.0.1:8080/v1`,
  );
}

function toNoModelText(environment: NodeJS.ProcessEnv): string {
  const found = Object.entries(keyVariables).filter(([variable]) => environment[variable]);
  const give =
    "give --model PROVIDER/MODEL (such as anthropic/claude-sonnet-4-5), or --script FILE for scripted words without a model, or try `run --example`";
  if (found.length === 0) {
    return `no model is given, and none of the usual key variables is set (${Object.keys(keyVariables).slice(0, 4).join(", ")}, ...): ${give}`;
  }
  const list = found.map(([variable, provider]) => `${variable} for ${provider}/...`);
  return `no model is given: ${give}. Keys found: ${list.join(", ")}`;
}
