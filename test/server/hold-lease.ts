/** Hold a lease until the input ends, as a command would while it runs. Reports on the output, one JSON object a line. */
import { toStateFolder } from "../../core/state-folder.ts";
import { ensureServer } from "../../worker/server/ensure-server.ts";

function report(event: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

try {
  const lease = await ensureServer({
    environment: process.env,
    stateFolder: toStateFolder(process.env, undefined),
    log: (line) => report({ line }),
    onLost: (lost) => report({ lost }),
  });
  report({ address: lease.address, isOurs: lease.isOurs });
  process.stdin.resume();
  process.stdin.once("end", () => void lease.release());
} catch (error) {
  report({ error: String(error) });
  process.exitCode = 2;
}
