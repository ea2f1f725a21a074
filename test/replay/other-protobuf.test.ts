// Tier: no server. Histories are read in a product whose packages have different copies of protobufjs, as npm may well install them.
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { parseHistory } from "../../worker/replay/read-history.ts";
import { toHistoryPath } from "../support/histories.ts";

const repository = fileURLToPath(new URL("../../", import.meta.url));
const installed = path.join(repository, "node_modules");
const program = `
import { readHistories } from "./worker/replay/history-files.ts";
const found = [];
for await (const { history, error } of readHistories(...process.argv.slice(2))) found.push(error?.message ?? history.events);
console.log(JSON.stringify(found));
`;

let product: string;
beforeAll(async () => {
  product = await mkdtemp(path.join(tmpdir(), "product-"));
  const modules = path.join(product, "node_modules");
  const own = new Set(["protobufjs", "@temporalio", ".bin", ".package-lock.json"]);
  await mkdir(path.join(modules, "@temporalio"), { recursive: true });
  const link = async (...names: string[]) =>
    await symlink(await realpath(path.join(installed, ...names)), path.join(modules, ...names));
  for (const name of await readdir(installed)) if (!own.has(name)) await link(name);
  for (const name of await readdir(path.join(installed, "@temporalio"))) {
    if (name !== "common") await link("@temporalio", name);
  }
  // Three copies: one of the SDK's messages, one of its reader of JSON, and one of whoever else asks.
  const common = path.join(modules, "@temporalio", "common");
  const copies = [
    ["@temporalio/common", common],
    ["protobufjs", path.join(common, "node_modules", "protobufjs")],
    ["protobufjs", path.join(modules, "protobufjs")],
  ] as const;
  for (const [name, place] of copies) {
    await cp(await realpath(path.join(installed, name)), place, { recursive: true });
  }
  for (const folder of ["worker/replay", "activities/paths"])
    await cp(path.join(repository, folder), path.join(product, folder), { recursive: true });
  await writeFile(path.join(product, "package.json"), '{ "type": "module" }');
  await writeFile(path.join(product, "read.ts"), program);
});
afterAll(async () => {
  await rm(product, { recursive: true });
});

/** As Temporal Web downloads it "human readable". */
function toReadable(text: string): string {
  const decode = (value: string) => Buffer.from(value, "base64").toString();
  const history = JSON.parse(text, (_, value) => {
    const encoding = decode(value?.metadata?.encoding ?? "");
    return encoding === "json/plain"
      ? { metadata: { encoding }, data: JSON.parse(decode(value.data)) }
      : value;
  });
  return JSON.stringify(history);
}

test("files are read, whichever copy of protobufjs anything has", async () => {
  const whole = toHistoryPath("completed.session");
  const readable = path.join(product, "readable.json");
  await writeFile(readable, toReadable(await readFile(whole, "utf8")));
  const { stdout } = await promisify(execFile)(process.execPath, ["read.ts", whole, readable], {
    cwd: product,
    maxBuffer: 64 * 1024 ** 2,
  });
  const { events } = parseHistory(await readFile(whole));
  const expected = JSON.parse(JSON.stringify(events));
  expect(JSON.parse(stdout)).toEqual([expected, expected]);
});
