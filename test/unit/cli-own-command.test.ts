import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { createToCommand } from "../../client/cli/own-command.ts";
import { createProgram } from "../../client/cli/program.ts";
import { readOwnPackage } from "../../worker/own-package.ts";

const program = createProgram(() => undefined);

test("a command is written as it is typed: plainly, by npm's script in a clone, with the server that was meant", () => {
  expect(createToCommand(["run", "x"], {})(["show", "s-1"])).toBe("subagents show s-1");
  expect(createToCommand(["run", "x"], { npm_lifecycle_event: "test" })(["show", "s-1"])).toBe(
    "subagents show s-1",
  );
  expect(createToCommand(["run", "x"], { npm_lifecycle_event: "subagents" })(["show", "s-1"])).toBe(
    "npm run --silent subagents -- show s-1",
  );
  const words = [
    "run",
    "--address",
    "10.0.0.1:7233",
    "--namespace=it's here",
    "--profile",
    "a",
    "--profile",
    "b",
  ];
  expect(createToCommand(words, {})(["send", "s-1"], '"..."')).toBe(
    `subagents send s-1 "..." --address 10.0.0.1:7233 --namespace 'it'\\''s here' --profile b`,
  );
  expect(createToCommand(["run", "--", "--address", "x"], {})(["dev"])).toBe("subagents dev");
});

test("what a person has chosen is quoted where a shell would take it apart", () => {
  const toCommand = createToCommand([], {});
  expect(toCommand(["worker", "--task-queue", "a b"])).toBe("subagents worker --task-queue 'a b'");
  expect(toCommand(["show", "it's $HOME"])).toBe(`subagents show 'it'\\''s $HOME'`);
  expect(toCommand(["show", ""])).toBe("subagents show ''");
});

test("commands that need no server are written without the flags of one", () => {
  const toCommand = createToCommand(["doctor", "--address", "10.0.0.1:7233"], {});
  expect(toCommand(["agents"])).toBe("subagents agents");
  expect(toCommand(["dev"])).toBe("subagents dev");
  expect(toCommand(["sessions"])).toBe("subagents sessions --address 10.0.0.1:7233");
});

test("no part of the program writes a command without finding out how it is typed", () => {
  const files = ["client", "worker"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => `${folder}/${file}`),
  );
  const own = program.commands.map((command) => command.name()).join("|");
  const plain = new RegExp(`subagents (${own})\\b`);
  const offending = files.flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => plain.test(line) && !/^\s*(\/?\*|\/\/)/.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(offending).toEqual([]);
});

test("the version is that of the package", () => {
  expect(readOwnPackage().version).toMatch(/^\d+\.\d+\.\d+/);
});
