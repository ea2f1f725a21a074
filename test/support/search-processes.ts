import { readdirSync, readFileSync } from "node:fs";

/** Ids of living processes that carry a run's marker in their environment; a zombie has none any more. */
export function listMarkedProcesses(marker: string): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter(
      (pid) => pid > 0 && pid !== process.pid && readEnvironment(pid).includes(`SUBAGENTS_RUN=${marker}`),
    );
}

function readEnvironment(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return [];
  }
}
