import { spawn } from "node:child_process";

export interface CommandResult {
  isOk: boolean;
  stdout: string;
  /** Why it did not end well, in one line; empty when `isOk`. */
  problem: string;
}

export interface CommandLimits {
  environment: NodeJS.ProcessEnv;
  timeoutMs: number;
}

const KEPT_CHARACTERS = 8_000;

/** Run a program without a shell and without input, for at most `timeoutMs`. Never rejects. */
export function runCommand(file: string, args: string[], limits: CommandLimits): Promise<CommandResult> {
  const { promise, resolve } = Promise.withResolvers<CommandResult>();
  const { environment, timeoutMs } = limits;
  // A group of its own, so that what the program started ends with it when the time is up.
  const child = spawn(file, args, { env: environment, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let stdout = "";
  let stderr = "";
  let isLate = false;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout = (stdout + text).slice(-KEPT_CHARACTERS);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-KEPT_CHARACTERS);
  });
  const timer = setTimeout(() => {
    isLate = true;
    if (child.pid !== undefined) killGroup(child.pid);
  }, timeoutMs);
  child.once("error", (error: NodeJS.ErrnoException) => {
    clearTimeout(timer);
    resolve({ isOk: false, stdout, problem: error.code === "ENOENT" ? "not installed" : error.message });
  });
  child.once("close", (code, signal) => {
    clearTimeout(timer);
    const reason = isLate ? `gave no result within ${timeoutMs / 1_000} s` : `ended with ${code ?? signal}`;
    const problem = code === 0 ? "" : [reason, toLastLine(stderr || stdout)].filter(Boolean).join(": ");
    resolve({ isOk: code === 0, stdout, problem });
  });
  return promise;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It ended in the same instant.
  }
}

/** The last line that says something: tools print the cause last, after what led to it. */
function toLastLine(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  return (lines.findLast((line) => line !== "" && !line.startsWith("[notice]")) ?? "").slice(0, 300);
}
