import { homedir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { loadCatalogue } from "../activities/definitions/load-catalogue.ts";
import { resolveModelPin } from "../activities/models/resolve-pin.ts";
import type { Catalogue, CatalogueRequest } from "../core/definition.ts";
import type { StateFolder } from "../core/state-folder.ts";

/** Read the definitions in force on this host, as a worker here would. */
export async function loadCatalogueForHost(
  request: CatalogueRequest,
  stateFolder: StateFolder,
): Promise<Catalogue> {
  const builtin = new URL(import.meta.url.endsWith(".ts") ? "../agents" : "../../agents", import.meta.url);
  return await loadCatalogue(request, {
    builtinDirectory: fileURLToPath(builtin),
    userDirectory: path.join(process.env.HOME || homedir(), ".agents", "subagents"),
    promptsDirectory: stateFolder.prompts,
    resolveModelPin,
  });
}
