import type { Api, Model } from "@earendil-works/pi-ai";
import { openAICompletionsApi } from "@earendil-works/pi-ai/api/openai-completions.lazy";
import { createProvider, type Provider } from "@earendil-works/pi-ai/models";
import type { ThinkingLevel } from "../../core/definition.ts";

/** What is assumed of a model that no catalogue knows. The server has the last word: it is never told a limit. */
const CONTEXT_WINDOW_TOKENS = 128_000;
const MAX_OUTPUT_TOKENS = 16_384;

/** Servers on one's own machine ask for no key, but the protocol wants a header. */
const PLACEHOLDER_KEY = "no-key-needed";

/** Describe a model behind an OpenAI-compatible server: nothing is assumed that such servers may refuse, and no price. */
export function toServerModel(
  provider: string,
  id: string,
  baseUrl: string,
  thinkingLevel: ThinkingLevel | undefined,
): Model<"openai-completions"> {
  return {
    id,
    name: id,
    api: "openai-completions",
    provider,
    baseUrl,
    reasoning: thinkingLevel !== undefined && thinkingLevel !== "off",
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: CONTEXT_WINDOW_TOKENS,
    maxTokens: MAX_OUTPUT_TOKENS,
    compat: {
      supportsStore: false,
      supportsDeveloperRole: false,
      supportsStrictMode: false,
      supportsFinishReason: true,
      maxTokensField: "max_tokens",
    },
  };
}

/** Serve one model by chat completions, with the key of OPENAI_API_KEY or, where none is set, a placeholder. */
export function toServerProvider(
  model: Model<"openai-completions">,
  environment: NodeJS.ProcessEnv,
): Provider {
  const api = openAICompletionsApi();
  const withoutLimit = <Options extends { onPayload?: unknown }>(options: Options | undefined) => ({
    ...options,
    onPayload: dropTokenLimit,
  });
  return createProvider<Api>({
    id: model.provider,
    baseUrl: model.baseUrl,
    auth: {
      apiKey: {
        name: "OPENAI_API_KEY",
        resolve: async () => ({
          auth: { apiKey: environment.OPENAI_API_KEY?.trim() || PLACEHOLDER_KEY },
        }),
      },
    },
    models: [model],
    api: {
      stream: (requested, context, options) => api.stream(requested, context, withoutLimit(options)),
      streamSimple: (requested, context, options) =>
        api.streamSimple(requested, context, withoutLimit(options)),
    },
  });
}

/** The limit would be a guess, and a server refuses one above its own. */
function dropTokenLimit(payload: unknown): unknown {
  if (typeof payload !== "object" || payload === null) return undefined;
  const {
    max_tokens: _tokens,
    max_completion_tokens: _completionTokens,
    ...rest
  } = payload as Record<string, unknown>;
  return rest;
}
