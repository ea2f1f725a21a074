import { createModels } from "@earendil-works/pi-ai/models";
import { loadProvider } from "./providers.ts";
import { toAuthContext } from "./runtime.ts";

/** Where a provider's key would come from, or which variables were looked for in vain. Names only, and no request is made. */
export type KeySource = { source: string } | { lookedFor: string[] };

/** Find where a provider's key comes from. Undefined if there is no such provider. */
export async function findKey(
  providerName: string,
  environment: NodeJS.ProcessEnv,
): Promise<KeySource | undefined> {
  const provider = await loadProvider(providerName);
  if (provider === undefined) return undefined;
  const lookedUp = new Set<string>();
  const models = createModels({ authContext: toAuthContext(environment, lookedUp) });
  models.setProvider(provider);
  const found = await models.checkAuth(provider.id);
  return found === undefined ? { lookedFor: [...lookedUp] } : { source: found.source ?? found.type };
}
