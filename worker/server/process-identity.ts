import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** A process, told apart from a later one that was given the same id. */
export interface ProcessIdentity {
  pid: number;
  startedAt: string;
}

/** Identify a living process; undefined if there is none, or only its zombie. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const startedAt = existsSync("/proc/self/stat") ? readProcStart(pid) : readListedStart(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

export function isSameProcessAlive(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.startedAt === identity.startedAt;
}

function readProcStart(pid: number): string | undefined {
  let line: string;
  try {
    line = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  // The second field is the program's name in parentheses, which may itself hold blanks and parentheses.
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  const [state, startedAt] = [fields[0], fields[19]];
  return state === "Z" || state === "X" ? undefined : startedAt;
}

function readListedStart(pid: number): string | undefined {
  try {
    const output = execFileSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], {
      encoding: "utf8",
      env: { ...process.env, LC_ALL: "C" },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [state, ...startedAt] = output.trim().split(/\s+/);
    return state?.startsWith("Z") ? undefined : startedAt.join(" ");
  } catch {
    return undefined;
  }
}
