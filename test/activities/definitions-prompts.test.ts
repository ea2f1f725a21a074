// Prompts are kept by their hash; a lost one is read again from its document, if it is still the same. Real files.
import { createHash } from "node:crypto";
import { chmod, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { readPrompt, writePrompt } from "../../activities/definitions/prompt-store.ts";
import { type Definition, definitionSchema } from "../../core/definition.ts";
import { createWorld, type World } from "../support/definitions.ts";

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.remove());

async function loadOne(prompt: string): Promise<Definition> {
  await world.write("user/one.md", { prompt });
  const [definition] = (await world.load()).definitions;
  return definitionSchema.parse(definition);
}

const toReference = ({ promptSha256, file }: Definition) => ({ sha256: promptSha256, file });

describe("a definition's prompt", () => {
  test("is kept under the SHA-256 of its bytes, readable by its owner alone", async () => {
    const { promptSha256 } = await loadOne("Lies für alle.\n\n  - eingerückt");
    const prompt = "Lies für alle.\n\n  - eingerückt";
    expect(promptSha256).toBe(createHash("sha256").update(prompt).digest("hex"));
    const file = join(world.promptsDirectory, `${promptSha256}.md`);
    expect(await readFile(file, "utf8")).toBe(prompt);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(world.promptsDirectory)).mode & 0o777).toBe(0o700);
  });

  test("does not depend on line ends, a byte-order mark or blank lines around it", async () => {
    const plain = await loadOne("One.\n\nTwo.");
    await writeFile(plain.file, "\uFEFF---\r\ndescription: x\r\n---\r\n\r\n  \r\nOne.\r\n\r\nTwo.\r\n\r\n");
    const [other] = (await world.load()).definitions;
    expect(other?.promptSha256).toBe(plain.promptSha256);
  });

  test("keeps the indentation of its first line", async () => {
    const { promptSha256, file } = await loadOne("    code\n");
    expect(await readPrompt(world.promptsDirectory, { sha256: promptSha256, file })).toEqual({
      kind: "found",
      prompt: "    code",
    });
  });

  test("is not written again, and many at once leave one whole file", async () => {
    const [first, ...others] = await Promise.all(
      Array.from({ length: 20 }, () => writePrompt(world.promptsDirectory, "Same.")),
    );
    expect(others.every((sha256) => sha256 === first)).toBe(true);
    expect(await readdir(world.promptsDirectory)).toEqual([`${first}.md`]);
    const file = join(world.promptsDirectory, `${first}.md`);
    const { ino } = await stat(file);
    await writePrompt(world.promptsDirectory, "Same.");
    expect((await stat(file)).ino).toBe(ino);
  });

  test("is read back although its document has changed since", async () => {
    const definition = await loadOne("Before.");
    await world.write("user/one.md", { prompt: "After." });
    expect(await readPrompt(world.promptsDirectory, toReference(definition))).toEqual({
      kind: "found",
      prompt: "Before.",
    });
  });

  test.each(["removed", "damaged"])("is read from its document where the kept one is %s", async (how) => {
    const definition = await loadOne("Same.");
    const kept = join(world.promptsDirectory, `${definition.promptSha256}.md`);
    await (how === "removed" ? rm(kept) : writeFile(kept, "Sam"));
    const reading = await readPrompt(world.promptsDirectory, toReference(definition));
    expect(reading).toEqual({ kind: "found", prompt: "Same." });
    expect(await readFile(kept, "utf8")).toBe("Same.");
  });

  test.each([
    [
      "has changed",
      (file: string) => writeFile(file, "---\ndescription: x\n---\nOther.\n"),
      "has changed since",
    ],
    ["is no definition any more", (file: string) => writeFile(file, "Same."), "has changed since"],
    ["is gone", (file: string) => rm(file), "cannot be read (ENOENT)"],
  ])("is lost where the kept one is gone and the document %s", async (_, change, reason) => {
    const definition = await loadOne("Same.");
    await rm(world.promptsDirectory, { recursive: true });
    await change(definition.file);
    const reading = await readPrompt(world.promptsDirectory, toReference(definition));
    expect(reading).toEqual({ kind: "lost", reason: expect.stringContaining(reason) });
  });

  test("is never looked up by anything but a hash", async () => {
    const reading = await readPrompt(world.promptsDirectory, { sha256: "../../user/one", file: "nowhere" });
    expect(reading).toEqual({ kind: "lost", reason: "the prompt's hash is not a SHA-256" });
  });

  test("that can't be kept fails the loading instead of a later start", async () => {
    await writeFile(join(world.root, "state"), "in the way");
    await world.write("user/one.md");
    await expect(world.load()).rejects.toThrow(/ENOTDIR|EEXIST/u);
  });
});

describe("the built-in definitions", () => {
  test("have their tools and turn backstops, and nothing odd", async () => {
    const builtin = new URL("../../agents", import.meta.url).pathname;
    const { definitions, problems } = await world.load({ directories: [builtin] });
    expect(problems).toEqual([]);
    expect(
      definitions.map(({ name, tools, maxTurns, permission }) => [
        name,
        tools.join(" "),
        maxTurns,
        permission,
      ]),
    ).toEqual([
      ["code-reviewer", "Read Glob Grep", 50, "inherit"],
      ["explorer", "Read Glob Grep", 60, "inherit"],
      ["fixer", "Read Glob Grep Edit Write Bash", 80, "inherit"],
      ["test-runner", "Read Glob Grep Bash", 40, "inherit"],
    ]);
  });

  test.each([
    ["explorer", ["<files>", "</files>", "<answer>", "</answer>"]],
    ["fixer", ["<summary>", "<changes>", "<verification>", "</verification>"]],
    ["code-reviewer", ["critical", "major", "minor", "Verdict"]],
    ["test-runner", ["command:", "result:", "counts:"]],
  ])("%s is told the shape of its report", async (name, parts) => {
    const text = await readFile(new URL(`../../agents/${name}.md`, import.meta.url), "utf8");
    for (const part of parts) expect(text).toContain(part);
  });
});

const isRoot = process.getuid?.() === 0;
(isRoot ? test.skip : test)(
  "a document that this user may not read is refused with the system's reason",
  async () => {
    const file = await world.write("user/one.md");
    await chmod(file, 0);
    const { problems } = await world.load();
    expect(problems).toEqual([
      expect.objectContaining({ message: "cannot be read (EACCES)", severity: "error" }),
    ]);
  },
);
