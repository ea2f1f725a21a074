// Who of a queue's pollers serves it: judged by identity where the process can be looked at, else by when it last asked.
import { expect, test } from "@jest/globals";
import { judgePollers } from "../../worker/doctor/judge-pollers.ts";
import { toWorkerIdentity, toWorkerName } from "../../worker/worker-identity.ts";

const now = Date.parse("2026-01-31T12:00:00Z");
const poll = (identity: string, secondsAgo: number) => ({
  identity,
  lastAccessTime: { seconds: (now / 1000 - secondsAgo) as never, nanos: 0 },
});
const own = toWorkerIdentity();
const [, place = ""] = own.split(" ");

test.each([
  ["asked a minute ago", [poll("7@elsewhere", 65)], []],
  ["asked two minutes ago", [poll("7@elsewhere", 120)], [["7@elsewhere", "silent"]]],
  ["asked on one of its queues", [poll("7@elsewhere", 120), poll("7@elsewhere", 5)], []],
  ["lives here", [poll(own, 5)], []],
  ["lived here", [poll(own.replace(/^\d+/, "4194305"), 1)], [[own.replace(/^\d+/, "4194305"), "gone"]]],
  [
    "had our number before",
    [poll(own.replace('["', '["earlier'), 1)],
    [[own.replace('["', '["earlier'), "gone"]],
  ],
  [
    "lives in another space of processes",
    [poll(own.replace(/"\]$/, '0"]').replace(/^\d+/, "4194305"), 1)],
    [],
  ],
  ["lives on another host", [poll(`4194305@elsewhere ${place}`, 1)], []],
  ["signs as nothing that can be read", [poll("1@here [", 1), poll("", 1), poll("1@here [1]", 1)], []],
])("a worker that %s", (_, pollers, expected) => {
  expect([...judgePollers(pollers, now)]).toEqual(expected);
});

test("of an identity people read process and host", () => {
  expect(toWorkerName(own)).toBe(own.slice(0, own.indexOf(" ")));
  expect(toWorkerName("my worker [1]")).toBe("my worker [1]");
});
