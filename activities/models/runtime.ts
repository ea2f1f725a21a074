import type { StreamFn } from "@earendil-works/pi-agent-core";
import type { Api, AssistantMessage, Model, SimpleStreamOptions } from "@earendil-works/pi-ai";
import { createModels, type Provider } from "@earendil-works/pi-ai/models";
import { type ModelSource, type ThinkingLevel, toModelLabel } from "../../core/definition.ts";
import { noEvidence } from "./evidence.ts";
import { classifyFailure, type ProviderFailure } from "./failure.ts";
import { loadProvider } from "./providers.ts";
import { toRedactor } from "./redact.ts";
import { createRefusingRuntime } from "./refusing-runtime.ts";
import { resolveModel } from "./resolve-model.ts";
import { openTransport } from "./transport.ts";

/** A model that an agent loop can talk to. Serves one agent run: its requests follow each other. */
export interface ModelRuntime {
  model: Model<Api>;
  /** `<provider>/<id>`, or `script <file>`. */
  label: string;
  /** Contract: never throws or rejects; a failure is an assistant message with stop reason `error`. Makes one HTTP request. */
  streamFn: StreamFn;
  /** Explain the message of the latest request that failed. */
  takeFailure(message: AssistantMessage): ProviderFailure;
}

export interface ModelRuntimeOptions {
  role: "main" | "delegate";
  /** The definition's name, or `main`. */
  agent: string;
  /** The user's message or the task: a script may choose its part by it. */
  task: string;
  /** Where the provider's keys and proxies are read from. */
  environment: NodeJS.ProcessEnv;
  thinkingLevel?: ThinkingLevel | undefined;
  /** What the request that is under way carries of its trace. */
  toTraceHeaders?: () => Record<string, string>;
}

/** Longer than any idle window: that clock alone may judge a silent provider. Below the largest delay of a timer. */
const REQUEST_TIMEOUT_MS = 172_800_000;

/**
 * Make a model usable from where it comes from. Loads the one provider that is needed, and makes no request.
 *
 * Contract: does not reject for a source that can't be used (unknown provider or id, an unreadable script): the first request
 * answers with the reason, so that it ends the run like any other failure of a model.
 */
export async function createModelRuntime(
  source: ModelSource,
  options: ModelRuntimeOptions,
): Promise<ModelRuntime> {
  if (source.kind === "script") {
    const { createScriptRuntime } = await import("./script-runtime.ts");
    return createScriptRuntime(source, options, options.environment);
  }
  if (source.baseUrl !== undefined) {
    const { toServerModel, toServerProvider } = await import("./openai-compatible.ts");
    const model = toServerModel(source.provider, source.id, source.baseUrl, options.thinkingLevel);
    return toRuntime(source, model, toServerProvider(model, options.environment), options);
  }
  const provider = await loadProvider(source.provider);
  const model = provider?.getModels().find((known) => known.id === source.id);
  if (provider !== undefined && model !== undefined) return toRuntime(source, model, provider, options);
  const resolution = await resolveModel(`${source.provider}/${source.id}`);
  const reason = resolution.kind === "unresolved" ? resolution.reason : "no such model";
  return createRefusingRuntime(toUnknownModel(source.provider, source.id), toModelLabel(source), {
    code: "PROVIDER_NOT_FOUND",
    message: reason,
  });
}

async function toRuntime(
  source: ModelSource,
  model: Model<Api>,
  provider: Provider,
  { environment, thinkingLevel, toTraceHeaders }: ModelRuntimeOptions,
): Promise<ModelRuntime> {
  const transport = await openTransport(environment, toTraceHeaders);
  const redact = toRedactor(environment);
  const lookedUp = new Set<string>();
  const models = createModels({ authContext: toAuthContext(environment, lookedUp), identity });
  models.setProvider(provider);
  const toRequest = toRequestMaker(environment, thinkingLevel);
  let evidence = noEvidence();
  const streamFn: StreamFn = (requested, context, options) => {
    evidence = noEvidence();
    const request = { ...toRequest(options), fetch: transport(evidence) };
    return models.streamSimple(requested, context, request);
  };
  const takeFailure = (message: AssistantMessage): ProviderFailure => {
    const failure = classifyFailure(message, evidence, Date.now());
    const isKeyMissing = evidence.requests === 0 && failure.code === "PROVIDER_AUTH" && lookedUp.size > 0;
    const hint = isKeyMissing ? ` (looked for ${[...lookedUp].join(", ")})` : "";
    return { ...failure, message: redact(failure.message) + hint };
  };
  return { model, label: toModelLabel(source), streamFn, takeFailure };
}

/** Adds to the options of one request what holds for all of a run. */
function toRequestMaker(environment: NodeJS.ProcessEnv, thinkingLevel: ThinkingLevel | undefined) {
  const env = Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const own = thinkingLevel === "off" ? undefined : thinkingLevel;
  return ({ reasoning = own, ...options }: SimpleStreamOptions = {}): SimpleStreamOptions => ({
    ...options,
    ...(reasoning === undefined ? {} : { reasoning }),
    // Adapters look regions, resource names and the like up by themselves: in the same environment as the keys.
    env,
    transport: "sse",
    timeoutMs: REQUEST_TIMEOUT_MS,
    // The agent run alone owns retries.
    maxRetries: 0,
  });
}

const identity = { userAgent: { custom: "temporal-subagents" } };

/** Reads keys from the run's environment and remembers which names were asked for: a missing key is reported by its name. */
export function toAuthContext(environment: NodeJS.ProcessEnv, lookedUp: Set<string>) {
  return {
    env: async (name: string): Promise<string | undefined> => {
      lookedUp.add(name);
      const value = environment[name]?.trim();
      return value === "" ? undefined : value;
    },
    fileExists: async (path: string): Promise<boolean> => {
      const { access } = await import("node:fs/promises");
      const home = environment.HOME ?? "";
      return access(path.replace(/^~/, home)).then(
        () => true,
        () => false,
      );
    },
  };
}

/** Stands for a model that no catalogue has. */
function toUnknownModel(provider: string, id: string): Model<Api> {
  return {
    id,
    name: id,
    api: "unknown",
    provider,
    baseUrl: "",
    reasoning: false,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 128_000,
    maxTokens: 16_384,
  };
}
