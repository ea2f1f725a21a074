// Tier: real files and processes, no server.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "@jest/globals";
import { ownProcessIdentity } from "../../activities/processes/process-identity.ts";
import { readRecord, writeRecord } from "../../worker/server/dev-server-files.ts";

const file = path.join(mkdtempSync(path.join(tmpdir(), "record-")), "record.json");
const ports = { port: 7233, uiPort: 8233 };
const own = ownProcessIdentity();
const [, startedAt = ""] = own.startTime.split("/");

test("a record is read as it was written", () => {
  writeRecord(file, { ...ports, server: own });
  expect(readRecord(file)).toEqual({ ...ports, server: own });
});

test.each([
  ["of an earlier version still leads to its server", { pid: own.pid, startedAt }, own],
  [
    "of an earlier version leads to nobody once its server has ended",
    { pid: own.pid, startedAt: "1" },
    undefined,
  ],
  ["whose server can't be read keeps its ports", { pid: "one" }, undefined],
])("a record %s", (_, server, read) => {
  writeFileSync(file, JSON.stringify({ ...ports, server }));
  expect(readRecord(file)).toEqual({ ...ports, ...(read === undefined ? {} : { server: read }) });
});

test("a record that is none is as good as absent", () => {
  writeFileSync(file, "{");
  expect(readRecord(file)).toBeUndefined();
});
