// Real bash, real processes. What is left of them is judged by the kernel's own list.
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { findByCommandLine, isRunning, openBash, toRareSleep, until } from "./bash-support.ts";

describe("an ordinary end", () => {
  test("the output of both streams comes in the order written, without remarks", async () => {
    using bash = openBash();
    const result = await bash.run("echo a; echo b >&2; echo c; echo d > /dev/stderr; echo e > /dev/stdout");
    expect(result).toMatchObject({ text: "a\nb\nc\nd\ne\n", isError: false });
  });

  test("a command runs in the workspace and leaves nothing in the folder for outputs", async () => {
    using bash = openBash();
    const result = await bash.run("pwd; ls -A ../outputs");
    expect(result.text).toBe(`${bash.context.workspace}\n`);
  });

  test("no output is said", async () => {
    using bash = openBash();
    expect(await bash.run("true")).toMatchObject({ text: "(no output)", isError: false });
  });

  test("a code other than zero is an error that names it", async () => {
    using bash = openBash();
    expect(await bash.run("echo x; exit 3")).toMatchObject({ text: "Exit code 3.\n\nx\n", isError: true });
  });

  test("a signal is named, be it the shell's or a program's", async () => {
    using bash = openBash();
    const shell = await bash.run("kill -SEGV $$");
    expect(shell).toMatchObject({ isError: true });
    expect(shell.text).toMatch(/^The shell was ended by signal SIGSEGV\./);
    const program = await bash.run("sh -c 'kill -KILL $$'; exit $?");
    expect(program.text).toMatch(/^Exit code 137 \(128 \+ SIGKILL/);
  });
});

describe("a command that can't start", () => {
  test("an empty one, one with a NUL and one that is too long are refused", async () => {
    using bash = openBash();
    expect((await bash.run(" \n")).text).toMatch(/empty/);
    expect((await bash.run("echo a\0b")).text).toMatch(/NUL/);
    const long = await bash.run(`: ${"x".repeat(131_070)}`);
    expect(long).toMatchObject({ isError: true });
    expect(long.text).toMatch(/131072 bytes; at most 131071/);
    expect(await bash.run(`: ${"x".repeat(131_069)}`)).toMatchObject({ isError: false });
  });

  test("a PATH without bash and a workspace that is gone are named", async () => {
    using noBash = openBash({ PATH: "/nowhere:bin" });
    expect(await noBash.run("true")).toMatchObject({ isError: true });
    expect((await noBash.run("true")).text).toMatch(/no bash on this worker's PATH \(\/nowhere:bin\)/);
    using bash = openBash();
    bash.context.workspace += "/gone";
    expect((await bash.run("true")).text).toMatch(/workspace .*gone is no folder/);
  });
});

describe("background processes", () => {
  const rare = toRareSleep();
  test.each([
    [`sleep ${rare} & echo hi`],
    [`sleep ${rare} >/dev/null & echo hi`],
    [`sleep ${rare} >/dev/null 2>&1 & echo hi`],
    [`setsid sleep ${rare} & echo hi`],
    [
      `(setsid sh -c 'setsid sleep ${rare} & exit' &) ; echo hi; until pgrep -f 'sleep ${rare}' >/dev/null; do :; done`,
    ],
    [`nohup node -e 'setInterval(()=>{},1e3) // ${rare}' & echo hi`],
    [`trap '' TERM; sleep ${rare} & echo hi`],
    [`env -i sleep ${rare} & echo hi`],
  ])("%s: the call ends with the shell, and they with it", async (command) => {
    using bash = openBash();
    const result = await bash.run(command);
    expect(result.isError).toBe(false);
    expect(result.text).toMatch(/background process(es were| was) still running/);
    expect(result.text).toMatch(/hi\n$/);
    expect(result.ms).toBeLessThan(2_500);
    expect(findByCommandLine(rare)).toEqual([]);
  });

  test("one that writes without end is bounded and ended", async () => {
    using bash = openBash();
    const result = await bash.run("(yes rare-yes & ) ; sleep 1; echo hi");
    expect(result.isError).toBe(false);
    expect(result.text.length).toBeLessThan(32_000);
    expect(result.ms).toBeLessThan(3_500);
    expect(findByCommandLine("rare-yes")).toEqual([]);
  });

  test("one that cleared its environment and left every group is given away by the output that it holds", async () => {
    using bash = openBash();
    const hidden = toRareSleep();
    const result = await bash.run(
      `env -i setsid sh -c 'setsid sleep ${hidden} & sleep 0.1' & sleep 0.3; echo hi`,
    );
    expect(result.text).toMatch(/^1 background process was[\s\S]*hi\n$/);
    expect(result.ms).toBeLessThan(2_500);
    expect(findByCommandLine(hidden)).toEqual([]);
  });

  test("those that end by themselves right after the shell are given the time and not mentioned", async () => {
    using bash = openBash();
    const result = await bash.run("echo one > >(sleep 0.05; cat; echo two)");
    expect(result).toMatchObject({ text: "one\ntwo\n", isError: false });
  });

  test("those of another call of the same run live on", async () => {
    using bash = openBash();
    const other = toRareSleep();
    const stop = new AbortController();
    const first = bash.run(`sleep ${other}`, undefined, stop.signal);
    await until(() => findByCommandLine(`sleep ${other}`).length > 0);
    await bash.run("sleep 99 & echo hi");
    const others = findByCommandLine(`sleep ${other}`);
    stop.abort();
    await first;
    expect(others).not.toEqual([]);
    expect(findByCommandLine(other)).toEqual([]);
  });
});

describe("the timeout", () => {
  test.each([
    ["trap '' TERM; echo part; (trap '' TERM; sleep RARE) & wait"],
    ["echo part; nohup setsid sleep RARE & wait"],
    ["echo part; setsid sh -c \"trap '' TERM; sleep RARE; :\" >/dev/null 2>&1 & sleep RARE"],
    ["echo part; kill -STOP $$; sleep RARE"],
    ["echo part; env -i setsid sh -c 'sleep RARE; :' & wait"],
  ])("%s: says so, keeps the output, leaves nobody", async (pattern) => {
    using bash = openBash();
    const rare = toRareSleep();
    const result = await bash.run(pattern.replaceAll("RARE", rare), 1);
    expect(result.isError).toBe(true);
    expect(result.text).toMatch(/^Timed out after 1 s\./);
    expect(result.text).toContain("part");
    expect(result.ms).toBeGreaterThan(990);
    expect(result.ms).toBeLessThan(3_000);
    expect(findByCommandLine(rare)).toEqual([]);
  });

  test("a program that obeys SIGTERM may tidy up", async () => {
    using bash = openBash();
    const result = await bash.run("trap 'echo tidied; exit 0' TERM; while :; do sleep 0.05; done", 1);
    expect(result.text).toMatch(/^Timed out[\s\S]*tidied\n$/);
  });

  test("nothing is written after the answer", async () => {
    using bash = openBash();
    const file = join(bash.context.workspace, "f");
    await bash.run("setsid sh -c 'while :; do date >> f; sleep 0.02; done' & wait", 1);
    const size = statSync(file).size;
    expect(size).toBeGreaterThan(0);
    await bash.run("sleep 0.5");
    expect(statSync(file).size).toBe(size);
  });
});

describe("a stop", () => {
  test("ends a command that ignores SIGTERM within a second, and keeps what it printed", async () => {
    using bash = openBash();
    const rare = toRareSleep();
    const stop = new AbortController();
    const command = `echo part; trap '' TERM; setsid sleep ${rare} & while :; do date >> f; sleep 0.02; done`;
    const running = bash.run(command, undefined, stop.signal);
    const file = join(bash.context.workspace, "f");
    await until(() => existsSync(file) && findByCommandLine(`sleep ${rare}`).length > 0);
    const start = performance.now();
    stop.abort();
    const result = await running;
    expect(performance.now() - start).toBeLessThan(1_000);
    expect(result).toMatchObject({ isError: true });
    expect(result.text).toMatch(/^Stopped: [\s\S]*part\n/);
    const size = statSync(file).size;
    expect(findByCommandLine(rare)).toEqual([]);
    await bash.run("sleep 0.3");
    expect(statSync(file).size).toBe(size);
  });

  test("before the start nothing is run", async () => {
    using bash = openBash();
    const result = await bash.run("touch ran", undefined, AbortSignal.abort());
    expect(result.isError).toBe(true);
    expect(existsSync(join(bash.context.workspace, "ran"))).toBe(false);
  });
});

describe("nobody answers", () => {
  test("the input is empty and there is no terminal", async () => {
    using bash = openBash();
    expect(await bash.run("cat")).toMatchObject({ isError: false, text: "(no output)" });
    expect(await bash.run('read x; code=$?; echo "got:$x"; exit $code')).toMatchObject({
      isError: true,
      text: "Exit code 1.\n\ngot:\n",
    });
    const terminal = await bash.run("cat < /dev/tty");
    expect(terminal.isError).toBe(true);
    expect(terminal.text).toMatch(/\/dev\/tty/);
  });

  test("git commit without a message fails, and a rebase goes on", async () => {
    using bash = openBash();
    const setUp =
      "git init -q . && git config user.email a@b.c && git config user.name n && echo 1 > f && git add f";
    const commit = await bash.run(`${setUp} && git commit`, 20);
    expect(commit.isError).toBe(true);
    expect(commit.text).toMatch(/empty commit message/i);
    const amended = await bash.run("git commit -qm one && git commit -q --amend && git log --format=%s", 20);
    expect(amended).toMatchObject({ isError: false, text: "one\n" });
  });

  test("a program that asks the terminal for a password fails at once", async () => {
    using bash = openBash();
    const ssh = join(bash.context.workspace, "ssh");
    writeFileSync(ssh, "#!/bin/bash\necho -n 'password: '; read -r secret < /dev/tty || exit 255\n", {
      mode: 0o755,
    });
    const result = await bash.run("PATH=$PWD:$PATH; ssh host");
    expect(result.isError).toBe(true);
    expect(result.text).toMatch(/^Exit code 255\./);
    expect(result.ms).toBeLessThan(5_000);
  });

  test("the shell leads its own session", async () => {
    using bash = openBash();
    const result = await bash.run("echo $$ $(cut -d' ' -f5,6 /proc/$$/stat)");
    const [pid, group, session] = result.text.trim().split(" ");
    expect([group, session]).toEqual([pid, pid]);
    expect(isRunning(Number(pid))).toBe(false);
  });
});

test("every process of a command carries the run's and the call's mark", async () => {
  using bash = openBash();
  const result = await bash.run("setsid env | grep ^SUBAGENTS_ | sort");
  const lines = result.text.trim().split("\n");
  expect(lines[0]).toBe(`SUBAGENTS_CALL=${bash.context.callId}`);
  expect(lines[1]).toMatch(/^SUBAGENTS_COMMAND=[0-9a-f-]{36}$/);
  expect(lines[2]).toBe(`SUBAGENTS_RUN=${bash.context.runMarker}`);
  expect(readFileSync("/proc/self/environ", "utf8")).not.toContain(bash.context.runMarker);
});
