// Tier: no server. What the package holds, as npm lists it.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";

const root = fileURLToPath(new URL("../../", import.meta.url));

test("every file of deploy/ that the manual names is in the package beside it", () => {
  const words = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const [listed] = JSON.parse(execFileSync("npm", words, { cwd: root, encoding: "utf8", stdio: "pipe" }));
  const packed = new Set((listed.files as { path: string }[]).map((file) => file.path));
  const pages = readdirSync(path.join(root, "docs")).filter((name) => name.endsWith(".md"));
  const text = pages.map((name) => readFileSync(path.join(root, "docs", name), "utf8")).join("\n");
  const named = new Set(text.match(/\bdeploy\/[\w.-]+\w/g));
  expect(named.size).toBeGreaterThanOrEqual(3);
  expect([...named].filter((name) => !packed.has(name))).toEqual([]);
});
