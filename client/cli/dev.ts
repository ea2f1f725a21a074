import { ensureServer } from "../../worker/server/ensure-server.ts";
import { CliError } from "./cli-error.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import type { Host } from "./host.ts";

/** Run the dev server in the foreground. Sessions are kept in the state folder and survive its restart. */
export async function dev(host: Host): Promise<ExitCode> {
  const { environment, output, interruption, stateFolder } = host;
  if (environment.TEMPORAL_ADDRESS) {
    throw new CliError(
      "Configuration.Invalid",
      `TEMPORAL_ADDRESS is ${JSON.stringify(environment.TEMPORAL_ADDRESS)}: that server is used, and no dev server is needed. Unset it to run one`,
    );
  }
  const { promise: lost, reject } = Promise.withResolvers<never>();
  lost.catch(() => undefined);
  const onLost = (reason: string) => reject(new CliError("Server.Lost", reason, exitCodes.failed));
  const log = (line: string) => output.say(line);
  const lease = await interruption.orElse(ensureServer({ environment, stateFolder, log, onLost }));
  try {
    output.print(
      [
        `Temporal server: ${lease.address}, namespace ${lease.namespace}`,
        ...(lease.uiUrl === undefined ? [] : [`Temporal Web:    ${lease.uiUrl}`]),
        lease.isOurs ? "Ctrl-C ends it." : "It ran already, and goes on when this command ends.",
      ].join("\n"),
    );
    output.event({
      type: "ready",
      address: lease.address,
      namespace: lease.namespace,
      isOurs: lease.isOurs,
      ...(lease.uiUrl === undefined ? {} : { web: lease.uiUrl }),
    });
    await interruption.orElse(lost).catch((error) => {
      if (!interruption.signal.aborted) throw error;
    });
    output.say(
      lease.isOurs
        ? "ending the server, unless another command uses it: its sessions are kept, and go on with the next one"
        : "ending: the server goes on",
    );
    return exitCodes.completed;
  } finally {
    await lease.release();
  }
}
