import { resolveModel } from "../activities/models/resolve-model.ts";
import { readScript } from "../activities/models/script-format.ts";
import type { ModelSource } from "../core/definition.ts";

/** Say why words can't come from a source, as far as that can be told without a request; undefined if nothing is wrong with it. */
export async function findModelProblem(source: ModelSource): Promise<string | undefined> {
  if (source.kind === "script") {
    const reading = await readScript(source.file);
    return reading.kind === "problem" ? reading.message : undefined;
  }
  const { provider, id, baseUrl } = source;
  const resolution = await resolveModel(`${provider}/${id}`, baseUrl === undefined ? {} : { baseUrl });
  return resolution.kind === "unresolved" ? resolution.reason : undefined;
}
