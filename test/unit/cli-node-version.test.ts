// An installed command on a Node that is too old says so in one sentence, before it loads what that Node does not have.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { transformSync } from "@swc/core";
import { findNodeProblem } from "../../client/cli/node-version.ts";

test.each([
  ["18.20.8", "subagents needs Node 22.19 or later; this is 18.20.8"],
  ["20.20.2", "subagents needs Node 22.19 or later; this is 20.20.2"],
  ["22.18.0", "subagents needs Node 22.19 or later; this is 22.18.0"],
  ["22.19.0", undefined],
  ["22.20.1", undefined],
  ["24.0.0", undefined],
])("Node %s: %s", (running, said) => {
  expect(findNodeProblem(running, ">=22.19")).toBe(said);
});

test("what is needed is what the package file says", () => {
  const { engines } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  expect(findNodeProblem("1.0.0")).toContain(`Node ${engines.node.replace(">=", "")} or later`);
});

/** A Node of the system that is too old, if it has one. */
const old = (process.env.PATH ?? "")
  .split(path.delimiter)
  .map((folder) => path.join(folder, "node"))
  .find((file) => {
    const version = String(spawnSync(file, ["--version"], { encoding: "utf8" }).stdout ?? "").trim();
    return version !== "" && findNodeProblem(version.slice(1)) !== undefined;
  });

(old === undefined ? test.skip : test)("the command ends with 2 and that sentence", () => {
  const repository = fileURLToPath(new URL("../../", import.meta.url));
  const folder = mkdtempSync(path.join(tmpdir(), "old-node-"));
  cpSync(path.join(repository, "package.json"), path.join(folder, "package.json"));
  // All that may be loaded by then, and what must not be; anything else is missing.
  const cli = ["main", "node-version", "compile-cache"].map((name) => `client/cli/${name}`);
  for (const name of [...cli, "worker/own-package", "activities/own-package", "core/state-folder"]) {
    const { code } = transformSync(readFileSync(path.join(repository, `${name}.ts`), "utf8"), {
      jsc: { parser: { syntax: "typescript" }, target: "es2022" },
      module: { type: "es6" },
    });
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, `${name}.js`), code.replaceAll('.ts"', '.js"'));
  }
  const ended = spawnSync(old ?? "", [path.join(folder, "client", "cli", "main.js"), "--help"], {
    encoding: "utf8",
  });
  rmSync(folder, { recursive: true });
  expect(ended).toMatchObject({
    status: 2,
    stdout: "",
    stderr: expect.stringMatching(/^subagents needs Node \d+\.\d+ or later; this is \d+\.\d+\.\d+\n$/),
  });
});
