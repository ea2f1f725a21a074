import { execFile, execFileSync } from "node:child_process";
import type { ProcessMarks } from "./process-marks.ts";
import type { ProcessEntry } from "./process-stat.ts";

/** How systems without `/proc` are asked: `ps` shows the environment after the command. Best effort. */
const columns = "pid=,ppid=,pgid=,stat=,lstart=,command=";
const line = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+)\s?(.*)$/;
const MAX_TABLE_BYTES = 256 * 1024 * 1024;

/** Read one line of `ps` with {@link columns}. Such systems show no session, so the group stands in for it. */
export function fromPsLine(text: string): (ProcessEntry & { marks: ProcessMarks }) | undefined {
  const found = line.exec(text);
  if (!found) return undefined;
  const [, pid, parent, group, state, startTime, command] = found;
  return {
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
    session: Number(group),
    startTime: startTime?.replace(/\s+/g, " ") ?? "",
    isZombie: state?.startsWith("Z") ?? false,
    isKernelThread: false,
    marks: {
      run: readVariable(command ?? "", "SUBAGENTS_RUN"),
      call: readVariable(command ?? "", "SUBAGENTS_CALL"),
      command: readVariable(command ?? "", "SUBAGENTS_COMMAND"),
    },
  };
}

/** A value ends where the next variable begins: `ps` separates by blanks, and a value may hold some. */
function readVariable(text: string, name: string): string | undefined {
  return new RegExp(`(?:^| )${name}=(.*?)(?= [A-Za-z_][A-Za-z0-9_]*=|$)`).exec(text)?.[1];
}

const environmentFlags = process.platform === "darwin" ? ["-axEww"] : ["axeww"];

/** Every process that `ps` shows. */
export async function readPsTable(): Promise<(ProcessEntry & { marks: ProcessMarks })[]> {
  const text = await new Promise<string>((resolve, reject) => {
    const limits = { maxBuffer: MAX_TABLE_BYTES, timeout: 5_000 };
    execFile("ps", [...environmentFlags, "-o", columns], limits, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
  });
  return text.split("\n").flatMap((row) => fromPsLine(row) ?? []);
}

/** One process's entry now; undefined if there is no such process. */
export function readPsEntry(pid: number): ProcessEntry | undefined {
  try {
    const output = execFileSync("ps", ["-ww", "-o", columns, "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      timeout: 5_000,
    });
    return fromPsLine(output.trimEnd());
  } catch {
    return undefined;
  }
}
