import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "@jest/globals";
import { identifyProcess, isSameProcessAlive } from "../../worker/server/process-identity.ts";

test("a process is the same as long as it lives, and a later one with its id is another", () => {
  const own = identifyProcess(process.pid);
  expect(own).toEqual(identifyProcess(process.pid));
  expect(isSameProcessAlive({ pid: process.pid, startedAt: `${own?.startedAt}` })).toBe(true);
  expect(isSameProcessAlive({ pid: process.pid, startedAt: `${own?.startedAt}0` })).toBe(false);
});

test("a process that has ended is not alive", async () => {
  const child = spawn("sh", ["-c", "read line"], { stdio: ["pipe", "ignore", "ignore"] });
  const identity = identifyProcess(child.pid ?? 0);
  if (identity === undefined) throw new Error("it was not found while it ran");
  expect(isSameProcessAlive(identity)).toBe(true);
  child.stdin.end();
  await once(child, "exit");
  expect(isSameProcessAlive(identity)).toBe(false);
});

test("a zombie is not alive", async () => {
  // The shell's child ends at once; the program that takes the shell's place never asks for its end.
  const parent = spawn("sh", ["-c", "sh -c 'echo $$' & exec sleep 60"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [output] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(output.toString());
  const deadline = Date.now() + 10_000;
  while (identifyProcess(pid) !== undefined && Date.now() < deadline) await new Promise(setImmediate);
  expect(identifyProcess(pid)).toBeUndefined();
  // The system still knows the id.
  expect(process.kill(pid, 0)).toBe(true);
  parent.kill("SIGKILL");
});
