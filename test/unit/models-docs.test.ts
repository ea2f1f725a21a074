import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { readScript } from "../../activities/models/script-format.ts";
import { failureCodes } from "../../core/status.ts";

const page = (name: string) => readFile(new URL(`../../docs/${name}`, import.meta.url), "utf8");

test("every example of a script in the documentation is one", async () => {
  const examples = [...(await page("script-format.md")).matchAll(/```json\n([\s\S]*?)```/g)].map(
    ([, text]) => text ?? "",
  );
  expect(examples.length).toBeGreaterThan(1);
  const folder = await mkdtemp(join(tmpdir(), "script-docs-"));
  for (const text of examples) {
    const file = join(folder, "script.json");
    await writeFile(file, text);
    expect(await readScript(file)).toMatchObject({ kind: "script" });
  }
  await rm(folder, { recursive: true });
});

test("the documentation names every key that a script may have", async () => {
  const text = await page("script-format.md");
  const folder = await mkdtemp(join(tmpdir(), "script-docs-"));
  const file = join(folder, "script.json");
  const places = [
    { "?": 1 },
    { main: [{ "?": 1 }] },
    { main: [{ error: { message: "", "?": 1 } }] },
    { main: [{ calls: [{ tool: "x", "?": 1 }] }] },
  ];
  for (const document of places) {
    await writeFile(file, JSON.stringify(document));
    const read = await readScript(file);
    const allowed =
      read.kind === "problem" ? /allowed: ([\w, ]+)/.exec(read.message)?.[1]?.trim().split(", ") : undefined;
    expect(allowed?.length).toBeGreaterThan(1);
    for (const key of allowed ?? []) expect(text).toMatch(new RegExp(`\`${key}\`|"${key}"`));
  }
  await rm(folder, { recursive: true });
});

test("the documentation names every code of a provider's failure", async () => {
  const text = await page("models.md");
  for (const code of failureCodes.filter((name) => name.startsWith("PROVIDER_")))
    expect(text).toContain(`\`${code}\``);
});
