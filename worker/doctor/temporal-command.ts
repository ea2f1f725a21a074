import { toShellWord } from "../../core/text.ts";
import { findInstalledBinary } from "../server/find-binary.ts";
import type { FoundServer, ServerLook } from "./look-for-server.ts";

const NAME = "temporal";

/** How Temporal's own program is called on this host: by its name where that is on PATH, else by where an earlier fetch has put it. */
export async function findTemporalName({ environment, stateFolder }: ServerLook): Promise<string> {
  const search = { environment, folder: stateFolder.bin, log: () => undefined };
  const file = await findInstalledBinary(search).catch(() => NAME);
  return file.startsWith(stateFolder.bin) ? file : NAME;
}

/** Write a command of Temporal's own program as a person has to type it to reach the same server and namespace. */
export function toTemporalCommand(
  temporal: string,
  words: readonly string[],
  { address, namespace }: Pick<FoundServer, "address" | "namespace">,
): string {
  return [temporal, ...words, "--namespace", namespace, "--address", address].map(toShellWord).join(" ");
}
