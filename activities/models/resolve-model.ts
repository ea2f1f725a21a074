import type { ModelSource } from "../../core/definition.ts";
import { toOneLine } from "../../core/text.ts";
import { nearestTexts } from "./nearest.ts";
import { loadProvider, providerNames } from "./providers.ts";

/** A model that can be used, or the reason why not. `note` says what a person should know about how it was found. */
export type ModelResolution =
  | { kind: "resolved"; model: ModelSource; note?: string }
  | { kind: "unresolved"; reason: string };

/**
 * Read `<provider>/<id>` and check it against the catalogues, without a request.
 *
 * With a base URL the server behind it decides which ids it knows, so that any provider name and id are taken as they are.
 */
export async function resolveModel(
  text: string,
  { baseUrl }: { baseUrl?: string | undefined } = {},
): Promise<ModelResolution> {
  const written = text.trim();
  const slash = written.indexOf("/");
  const provider = written.slice(0, slash).trim().toLowerCase();
  const id = written.slice(slash + 1).trim();
  if (slash < 1 || provider === "" || id === "" || /[\p{Cc}\s]/u.test(written)) {
    return unresolved(`"${toOneLine(text, 100)}" is no model: write <provider>/<id>, such as openai/gpt-5.5`);
  }
  if (baseUrl !== undefined) {
    const problem = toBaseUrlProblem(baseUrl);
    if (problem !== undefined) return unresolved(problem);
    return {
      kind: "resolved",
      model: { kind: "provider", provider, id, baseUrl: baseUrl.trim().replace(/\/+$/, "") },
    };
  }
  return resolveInCatalogue(provider, id);
}

async function resolveInCatalogue(provider: string, id: string): Promise<ModelResolution> {
  const loaded = await loadProvider(provider);
  if (loaded === undefined) {
    const nearest = nearestTexts(provider, providerNames, 3);
    const hint = nearest.length === 0 ? "" : ` Nearest: ${nearest.join(", ")}.`;
    return unresolved(
      `no provider "${toOneLine(provider, 60)}".${hint} There are: ${providerNames.join(", ")}`,
    );
  }
  const ids = loaded.getModels().map((model) => model.id);
  // A provider whose catalogue comes from its server lists nothing before a request: then the server decides.
  if (ids.length === 0 || ids.includes(id))
    return { kind: "resolved", model: { kind: "provider", provider, id } };
  const nearest = nearestTexts(id, ids, 5);
  const hint =
    nearest.length === 0 ? `It has: ${ids.slice(0, 20).join(", ")}` : `Nearest: ${nearest.join(", ")}`;
  return unresolved(`provider ${provider} has no model "${toOneLine(id, 100)}". ${hint}`);
}

function toBaseUrlProblem(baseUrl: string): string | undefined {
  const url = URL.canParse(baseUrl.trim()) ? new URL(baseUrl.trim()) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "")
    return undefined;
  const shown = url === undefined ? toOneLine(baseUrl, 100) : `${url.protocol}//${url.host}${url.pathname}`;
  return `base URL "${shown}" is not usable: write the root of an OpenAI-compatible API, such as http://127.0.0.1:8080/v1, without a user name or password`;
}

function unresolved(reason: string): ModelResolution {
  return { kind: "unresolved", reason };
}
