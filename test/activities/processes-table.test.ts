import { spawn } from "node:child_process";
import { describe, expect, test } from "@jest/globals";
import { toFamily } from "../../activities/processes/process-family.ts";
import { noMarks, toMarks } from "../../activities/processes/process-marks.ts";
import { fromPsLine, readPsEntry, readPsTable } from "../../activities/processes/process-ps.ts";
import { readLinuxEntry, toProcessEntry } from "../../activities/processes/process-stat.ts";
import type { MarkedProcess } from "../../activities/processes/process-table.ts";

describe("the kernel's line on a process", () => {
  const rest = "7 8 9 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 12345 100";

  test.each([["cat"], ["a b"], [") R 1 1 1 ("], ["()"]])("a name like %j confuses nobody", (name) => {
    expect(toProcessEntry(`42 (${name}) S ${rest}`)).toEqual({
      pid: 42,
      parent: 7,
      group: 8,
      session: 9,
      startTime: "12345",
      isZombie: false,
      isKernelThread: false,
    });
  });

  test("zombies are told, torn lines are none", () => {
    expect(toProcessEntry(`42 (x) Z ${rest}`)?.isZombie).toBe(true);
    for (const line of ["", "42", "42 (x) S 1", "x (y) S"]) expect(toProcessEntry(line)).toBeUndefined();
  });
});

test("marks are read from an environment, the first of a name counts, and look-alikes do not", () => {
  const environment =
    "A=SUBAGENTS_RUN=no\0XSUBAGENTS_RUN=no\0SUBAGENTS_RUN=a=b c\0SUBAGENTS_RUN=two\0SUBAGENTS_CALL=\0";
  expect(toMarks(Buffer.from(environment))).toEqual({ run: "a=b c", call: "", command: undefined });
  expect(toMarks(Buffer.from("PATH=/bin\0"))).toBe(noMarks);
});

describe("the family of marked processes", () => {
  const self = 500;

  function toEntry(pid: number, parent: number, session: number, run?: string): MarkedProcess {
    const marks = { ...noMarks, run };
    const kernel = { isZombie: false, isKernelThread: false, startTime: String(pid) };
    return { pid, parent, group: session, session, marks, ...kernel };
  }

  function familyOf(...table: MarkedProcess[]): number[] {
    const all = [toEntry(1, 0, 1), toEntry(400, 1, 400), toEntry(self, 400, 400), ...table];
    return toFamily(all, ({ marks }) => marks.run === "r", undefined, self)
      .map(({ pid }) => pid)
      .sort();
  }

  test("descendants of any depth and members of a session that a marked one leads belong to it", () => {
    const table = [
      toEntry(600, self, 600, "r"),
      toEntry(601, 600, 601),
      toEntry(602, 601, 602),
      toEntry(603, 1, 600),
    ];
    expect(familyOf(...table)).toEqual([600, 601, 602, 603]);
  });

  test("a session with a stranger as its leader, and our own, are no tie", () => {
    expect(familyOf(toEntry(700, 1, 700), toEntry(701, 700, 700, "r"), toEntry(702, 700, 700))).toEqual([
      701,
    ]);
    expect(familyOf(toEntry(701, self, 400, "r"), toEntry(702, self, 400))).toEqual([701]);
  });

  test("a session that lost its leader is a tie, unless it is our own", () => {
    expect(familyOf(toEntry(701, 1, 700, "r"), toEntry(702, 1, 700))).toEqual([701, 702]);
    const table = [toEntry(self, 1, 399), toEntry(701, self, 399, "r"), toEntry(702, 1, 399)];
    const family = toFamily(table, ({ marks }) => marks.run === "r", undefined, self);
    expect(family.map(({ pid }) => pid)).toEqual([701]);
  });

  test("nobody ends what it descends from, nor itself, whatever the marks say", () => {
    const table = [
      toEntry(1, 0, 1),
      toEntry(400, 1, 400, "r"),
      toEntry(self, 400, 400, "r"),
      toEntry(600, self, 600),
    ];
    expect(toFamily(table, ({ marks }) => marks.run === "r", undefined, self)).toEqual([]);
  });

  test("a session's number that a stranger leads by now is not the command's", () => {
    const ours = { id: 800, startTime: "800" };
    const isWanted = () => false;
    const orphan = toEntry(801, 1, 800);
    expect(toFamily([toEntry(800, 1, 800), orphan], isWanted, ours, self)).toHaveLength(2);
    expect(toFamily([orphan], isWanted, ours, self)).toEqual([orphan]);
    const stranger = { ...toEntry(800, 1, 800), startTime: "9999" };
    expect(toFamily([stranger, orphan], isWanted, ours, self)).toEqual([]);
  });
});

describe("the list of ps, where there is no /proc", () => {
  test("a line is read with its marks, blanks in a value included", () => {
    const line =
      "  42     7    42 S+   Mon Jan  5 10:00:00 2026 sleep 9 HOME=/h SUBAGENTS_RUN=/a b#1 PATH=/bin";
    expect(fromPsLine(line)).toEqual({
      pid: 42,
      parent: 7,
      group: 42,
      session: 42,
      startTime: "Mon Jan 5 10:00:00 2026",
      isZombie: false,
      isKernelThread: false,
      marks: { run: "/a b#1", call: undefined, command: undefined },
    });
    expect(fromPsLine("")).toBeUndefined();
  });

  test("a real process is found in it with its marker and the same start time twice", async () => {
    const env = { ...process.env, SUBAGENTS_RUN: "/state of ps#1" };
    const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore", env });
    try {
      const found = (await readPsTable()).find(({ pid }) => pid === child.pid);
      const kernel = readLinuxEntry(child.pid ?? 0);
      expect(found).toMatchObject({
        parent: process.pid,
        group: kernel?.group,
        marks: { run: "/state of ps#1" },
      });
      expect(readPsEntry(child.pid ?? 0)?.startTime).toBe(found?.startTime);
    } finally {
      child.kill("SIGKILL");
    }
  });
});
