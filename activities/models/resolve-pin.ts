import { type ModelSource, toModelLabel } from "../../core/definition.ts";
import { toOneLine } from "../../core/text.ts";
import { type FamilyMatch, matchFamily } from "./families.ts";
import { loadProvider } from "./providers.ts";
import { type ModelResolution, resolveModel } from "./resolve-model.ts";

export interface PinContext {
  /** `NAME` to `PROVIDER/MODEL`; names are compared trimmed and without case. */
  aliases: Readonly<Record<string, string>>;
  sessionModel: ModelSource;
}

/**
 * Resolve the model that a definition names: `inherit`, `<provider>/<id>`, an alias, or a bare family name of the session's
 * provider. Makes no request. Never yields another model than the one named without a note that says so.
 */
export async function resolveModelPin(pin: string, context: PinContext): Promise<ModelResolution> {
  const { sessionModel } = context;
  const name = pin.trim();
  if (name.toLowerCase() === "inherit") return { kind: "resolved", model: sessionModel };
  if (name === "") return { kind: "unresolved", reason: `the model is empty: write ${expected}` };
  if (sessionModel.kind === "script") {
    const note = `"${toOneLine(name, 100)}" is played by the session's script`;
    return { kind: "resolved", model: sessionModel, note };
  }
  const alias = Object.entries(context.aliases).find(
    ([key]) => key.trim().toLowerCase() === name.toLowerCase(),
  );
  if (alias !== undefined) return resolveAlias(name, alias[1], sessionModel);
  return name.includes("/") ? resolveFull(name, sessionModel) : resolveBare(name, sessionModel);
}

const expected = "<provider>/<id>, inherit, or a name given by --model-alias NAME=PROVIDER/MODEL";

type ProviderModel = Extract<ModelSource, { kind: "provider" }>;

async function resolveAlias(
  name: string,
  target: string,
  sessionModel: ProviderModel,
): Promise<ModelResolution> {
  const resolution = await resolveFull(target, sessionModel);
  if (resolution.kind === "unresolved") {
    return { kind: "unresolved", reason: `alias ${toOneLine(name, 60)}: ${resolution.reason}` };
  }
  return {
    ...resolution,
    note: `"${toOneLine(name, 60)}" is ${toModelLabel(resolution.model)} by its alias`,
  };
}

/** A base URL says where the session's provider is: another model of that provider is asked for there, never elsewhere. */
async function resolveFull(name: string, sessionModel: ProviderModel): Promise<ModelResolution> {
  const isSameServer =
    sessionModel.baseUrl !== undefined &&
    name.trim().toLowerCase().startsWith(`${sessionModel.provider.toLowerCase()}/`);
  const resolution = await resolveModel(name, isSameServer ? { baseUrl: sessionModel.baseUrl } : {});
  return resolution.kind === "resolved" && isSameServer
    ? { ...resolution, note: `"${toOneLine(name, 100)}" is asked for at the session's base URL` }
    : resolution;
}

async function resolveBare(name: string, { provider, baseUrl }: ProviderModel): Promise<ModelResolution> {
  const shown = `"${toOneLine(name, 60)}"`;
  if (baseUrl !== undefined) {
    const reason = `${shown} is a bare name, and what the server at the base URL calls its models is not known: write ${expected}`;
    return { kind: "unresolved", reason };
  }
  const loaded = await loadProvider(provider);
  const ids = loaded?.getModels().map((model) => model.id) ?? [];
  const match = matchFamily(name, ids);
  if (match.kind !== "model")
    return { kind: "unresolved", reason: toReason(shown, match, provider, ids.length) };
  const note = match.isExact
    ? `${shown} is ${provider}/${match.id}`
    : `${shown} is ${provider}/${match.id}, the newest of ${provider}'s ${match.family}`;
  return { kind: "resolved", model: { kind: "provider", provider, id: match.id }, note };
}

function toReason(
  shown: string,
  match: Exclude<FamilyMatch, { kind: "model" }>,
  provider: string,
  count: number,
): string {
  const hint = count === 0 ? " (it lists no models)" : "";
  if (match.kind === "none") return `${provider} has no family named ${shown}${hint}: write ${expected}`;
  if (match.kind === "families") {
    return `${shown} could be ${match.families.slice(0, 10).join(", ")} of ${provider}: write ${expected}`;
  }
  return `${provider} has no ${shown}; its ${match.family} models are ${match.ids.slice(0, 20).join(", ")}`;
}
