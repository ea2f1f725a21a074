// Real processes with real environments; what is left of them is judged by the kernel's own list.
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "@jest/globals";
import { findProcesses, killOrphans, killRun } from "../../activities/processes/end-processes.ts";
import {
  identifyProcess,
  isProcessAlive,
  ownProcessIdentity,
} from "../../activities/processes/process-identity.ts";
import { readProcessTable } from "../../activities/processes/process-table.ts";
import { findByCommandLine, isRunning, toRareSleep, until } from "./bash-support.ts";

const started: ChildProcess[] = [];

/** Start a command in a session of its own, as the Bash tool does. */
function start(command: string, run: string | undefined): ChildProcess {
  const { SUBAGENTS_RUN: _, ...environment } = process.env;
  const env = run === undefined ? environment : { ...environment, SUBAGENTS_RUN: run };
  const child = spawn("bash", ["-c", command], { detached: true, stdio: "ignore", env });
  started.push(child);
  return child;
}

function toMarker(state = "/state"): string {
  return `${state}#${randomUUID()}`;
}

async function count(text: string, number: number): Promise<void> {
  await until(() => findByCommandLine(text).length === number);
}

afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});

describe("killRun", () => {
  test("kills all that carry the marker, and nobody else", async () => {
    const [marker, other] = [toMarker(), toMarker()];
    const rare = toRareSleep();
    start(`(setsid sleep ${rare} &); nohup sleep ${rare} & trap '' TERM; sleep ${rare}; :`, marker);
    const strangers = [start(`exec sleep ${rare}`, other), start(`exec sleep ${rare}`, undefined)];
    const longer = start(`exec sleep ${rare}`, `${marker}0`);
    await count(`sleep ${rare}`, 7);
    expect(await killRun(marker)).toEqual({ ended: 4, left: 0 });
    const rest = [...strangers, longer].map((child) => child.pid ?? 0);
    expect(findByCommandLine(rare).sort()).toEqual(rest.sort());
    expect(await killRun(marker)).toEqual({ ended: 0, left: 0 });
    await killRun(other);
    await killRun(`${marker}0`);
    for (const child of strangers) child.kill("SIGKILL");
  });

  test("finds a process without marks by its parent, its session or its group", async () => {
    const marker = toMarker();
    const rare = toRareSleep();
    const byParent = `env -i setsid sh -c 'sleep ${rare}; :' & wait`;
    const bySession = `(env -i sleep ${rare} &); exec sleep ${rare}`;
    // The shell that led this session ends; a marked member is left in it.
    const byLostSession = `env -i sleep ${rare} & sleep ${rare} &`;
    for (const command of [byParent, bySession, byLostSession]) start(command, marker);
    await until(() => findByCommandLine(rare).length >= 7);
    await killRun(marker);
    expect(findByCommandLine(rare)).toEqual([]);
  });

  test("is done only when what was forked in the meantime is gone too", async () => {
    const marker = toMarker();
    const rare = toRareSleep();
    const forks = `while :; do setsid sh -c "sleep 0.1; sleep ${rare}" & sleep 0.02; done`;
    start(forks, marker);
    await until(() => findByCommandLine(rare).length > 20);
    expect((await killRun(marker)).left).toBe(0);
    expect(findByCommandLine(rare)).toEqual([]);
  });

  test("leaves this process and its session alone, even where a process that it started carries the marker", async () => {
    const marker = toMarker();
    const rare = toRareSleep();
    const bystander = spawn("sleep", [rare], { stdio: "ignore" });
    const marked = spawn("sleep", [rare], {
      stdio: "ignore",
      env: { ...process.env, SUBAGENTS_RUN: marker },
    });
    started.push(bystander, marked);
    await count(`sleep ${rare}`, 2);
    expect(await killRun(marker)).toEqual({ ended: 1, left: 0 });
    expect(findByCommandLine(rare)).toEqual([bystander.pid]);
  });

  test("finds the marker in an environment of any length", async () => {
    const marker = toMarker();
    const rare = toRareSleep();
    for (const bytes of [10_000, 16_384, 100_000]) {
      const env = { PADDING: "x".repeat(bytes), SUBAGENTS_RUN: marker };
      started.push(spawn("/bin/sleep", [rare], { detached: true, stdio: "ignore", env }));
    }
    await count(`sleep ${rare}`, 3);
    expect(await killRun(marker)).toEqual({ ended: 3, left: 0 });
  });

  test("counts a zombie as gone", async () => {
    const marker = toMarker();
    const rare = toRareSleep();
    const parent = `bash -c 'sleep 0 & exec sleep ${rare}' & wait`;
    start(parent, marker);
    await until(() => findByCommandLine(`sleep ${rare}`).length > 0);
    const table = await readProcessTable();
    expect(table.filter((entry) => entry.isZombie)).toEqual([]);
    expect((await killRun(marker)).left).toBe(0);
  });

  test("is quick among some hundred processes and does not hold up its thread", async () => {
    const marker = toMarker();
    const rare = toRareSleep();
    start(`for i in $(seq 300); do sleep ${rare} & done; wait`, undefined);
    start(`for i in $(seq 20); do sleep ${rare} & done; wait`, marker);
    await until(() => findByCommandLine(`sleep ${rare}`).length >= 320, 30_000);
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const before = performance.now();
      await findProcesses((marks) => marks.run === marker);
      times.push(performance.now() - before);
    }
    const before = performance.now();
    expect(await killRun(marker)).toEqual({ ended: 21, left: 0 });
    const took = performance.now() - before;
    expect(Math.min(...times)).toBeLessThan(150);
    // The machine that runs the tests is shared; the bound is of the kind, not of the day.
    expect(took).toBeLessThan(1_000);
    const [leader] = started;
    if (leader?.pid) process.kill(-leader.pid, "SIGKILL");
  }, 60_000);
});

describe("killOrphans", () => {
  test("kills what runs that are over have left, asks once a marker, and spares the rest", async () => {
    const state = `/state-${randomUUID()}`;
    const [over, living, foreign] = [toMarker(state), toMarker(state), toMarker("/elsewhere")];
    const rare = toRareSleep();
    for (const marker of [over, over, living, foreign])
      start(`(setsid sleep ${rare} &); exec sleep ${rare}`, marker);
    await count(`sleep ${rare}`, 8);
    const asked: string[] = [];
    const result = await killOrphans(async (marker) => {
      asked.push(marker);
      return marker.startsWith(`${state}#`) && marker !== living;
    });
    expect(result).toEqual({ ended: 4, left: 0 });
    expect(asked.filter((marker) => [over, living, foreign].includes(marker)).sort()).toEqual(
      [over, living, foreign].sort(),
    );
    expect(findByCommandLine(`sleep ${rare}`)).toHaveLength(4);
    await killRun(living);
    await killRun(foreign);
    expect(findByCommandLine(rare)).toEqual([]);
  });
});

describe("the identity of a process", () => {
  test("this one is alive, also by what was stored", () => {
    const own = ownProcessIdentity();
    expect(own.pid).toBe(process.pid);
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    expect(own.startTime.startsWith(`${boot}/`)).toBe(true);
    expect(isProcessAlive(JSON.parse(JSON.stringify(own)))).toBe(true);
  });

  test("another start time, another boot and numbers that are no pid are not alive", () => {
    const own = ownProcessIdentity();
    expect(isProcessAlive({ ...own, startTime: `${own.startTime}0` })).toBe(false);
    expect(isProcessAlive({ ...own, startTime: own.startTime.replace(/^[^/]*/, "other-boot") })).toBe(false);
    for (const pid of [0, -1, 1.5, Number.NaN, 2 ** 31, 1e300]) {
      expect(isProcessAlive({ ...own, pid })).toBe(false);
    }
  });

  test("a zombie is dead", async () => {
    const child = spawn(process.execPath, [
      "--input-type=module",
      "-e",
      `import { spawn } from "node:child_process";
       const child = spawn("sh", ["-c", "read x"], { stdio: ["pipe", "ignore", "ignore"] });
       console.log(child.pid);
       process.stdin.once("data", () => {
         child.stdin.end("\\n");
         // Whoever is busy reaps nobody.
         for (;;);
       });`,
    ]);
    started.push(child);
    const pid = Number(await new Promise((resolve) => child.stdout?.once("data", resolve)));
    const identity = identifyProcess(pid);
    if (identity === undefined) throw new Error("it was not found while it ran");
    expect(isProcessAlive(identity)).toBe(true);
    child.stdin?.write("now");
    await until(() => !isRunning(pid));
    expect(isProcessAlive(identity)).toBe(false);
    expect(identifyProcess(pid)).toBeUndefined();
  });
});
