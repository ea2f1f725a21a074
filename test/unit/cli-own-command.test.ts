import { expect, test } from "@jest/globals";
import { createToCommand } from "../../client/cli/own-command.ts";
import { readVersion } from "../../client/cli/version.ts";

test("a command is written as it is typed: plainly, by npm's script in a clone, with the server that was meant", () => {
  expect(createToCommand(["run", "x"], {})("show s-1")).toBe("subagents show s-1");
  expect(createToCommand(["run", "x"], { npm_lifecycle_event: "test" })("show s-1")).toBe(
    "subagents show s-1",
  );
  expect(createToCommand(["run", "x"], { npm_lifecycle_event: "subagents" })("show s-1")).toBe(
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
  expect(createToCommand(words, {})('send s-1 "..."')).toBe(
    `subagents send s-1 "..." --address 10.0.0.1:7233 --namespace 'it'\\''s here' --profile b`,
  );
  expect(createToCommand(["run", "--", "--address", "x"], {})("dev")).toBe("subagents dev");
});

test("the version is that of the package", () => {
  expect(readVersion()).toMatch(/^\d+\.\d+\.\d+/);
});
