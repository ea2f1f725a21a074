// Which documents are looked at, and which of two with one name is in force. Real folders, links and pipes.
import { execFileSync } from "node:child_process";
import { linkSync } from "node:fs";
import { mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Catalogue } from "../../core/definition.ts";
import { createWorld, type World } from "../support/definitions.ts";

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.remove());

const toNames = ({ definitions }: Catalogue) => definitions.map(({ name, source }) => `${source} ${name}`);
const toProblems = ({ problems }: Catalogue) =>
  problems.map(
    ({ file, severity, message }) => `${severity} ${file.slice(world.root.length + 1)}: ${message}`,
  );
const project = "workspace/.agents/subagents";

describe("rank", () => {
  test("later directories come before earlier ones, the user's and the built-in documents", async () => {
    for (const folder of ["first", "second", "user", "builtin"]) await world.write(`${folder}/same.md`);
    await world.write("builtin/other.md");
    const directories = [join(world.root, "first"), join(world.root, "second")];
    const catalogue = await world.load({ directories });
    expect(catalogue.definitions.map(({ file }) => file.slice(world.root.length + 1))).toEqual([
      "second/same.md",
      "builtin/other.md",
    ]);
    expect(catalogue.problems).toEqual([]);
  });

  test("names meet without case, blanks, underscores and composition", async () => {
    await world.write("user/a.md", { keys: 'name: "Cafe\u0301_Crew"\ndescription: x' });
    await world.write("builtin/b.md", { keys: 'name: "caf\u00e9 crew"\ndescription: x' });
    expect(toNames(await world.load())).toEqual(["user café-crew"]);
  });

  test("a refused document takes its name with it", async () => {
    await world.write("user/mine.md", { keys: "name: Explorer\ndescription: x\ntools: []" });
    await world.write("builtin/explorer.md");
    const catalogue = await world.load();
    expect(toNames(catalogue)).toEqual([]);
    expect(toProblems(catalogue)).toEqual([
      "error user/mine.md: is an empty list",
      expect.stringMatching(
        /^warning builtin\/explorer.md: is not in force: .*user\/mine.md, which is refused$/u,
      ),
    ]);
  });

  test.each([
    ["never closed", "---\nname: explorer\ndescription: x\n"],
    ["UTF-16", Buffer.from("---\nname: explorer\ndescription: x\n---\nx", "utf16le")],
    ["with a NUL", "---\nname: explorer\ndescription: x\n---\n\0"],
    ["too large", `---\nname: explorer\ndescription: x\n---\n${"x".repeat(300_000)}`],
    ["with two names", "---\nname: other\nname: explorer\ndescription: x\n---\nx"],
  ])("a document that is %s takes the name that it declares", async (_, bytes) => {
    await mkdir(world.userDirectory ?? "");
    await writeFile(join(world.root, "user/mine.md"), bytes);
    await world.write("builtin/explorer.md");
    await world.write("builtin/mine.md");
    expect(toNames(await world.load())).toEqual(["builtin mine"]);
  });

  test("a refused document without a name takes its file's", async () => {
    await world.write("user/explorer.md", { keys: "tools: Read" });
    await world.write("builtin/explorer.md");
    expect(toNames(await world.load())).toEqual([]);
  });

  test("of two documents in one folder the first by file name is in force", async () => {
    await world.write("user/b.md", { keys: "name: same\ndescription: second" });
    await world.write("user/a.md", { keys: "name: Same\ndescription: first" });
    const catalogue = await world.load();
    expect(catalogue.definitions.map(({ description }) => description)).toEqual(["first"]);
    expect(toProblems(catalogue)).toEqual([
      `warning user/b.md: is not in force: same is the name of ${world.root}/user/a.md, which ranks first`,
    ]);
  });

  test("those beyond 16 are named, lowest rank first to fall out", async () => {
    for (let n = 10; n < 25; n++) await world.write(`user/u${n}.md`);
    for (const name of ["a", "b", "c"]) await world.write(`builtin/${name}.md`);
    const catalogue = await world.load();
    expect(catalogue.definitions).toHaveLength(16);
    expect(toNames(catalogue).at(-1)).toBe("builtin a");
    expect(toProblems(catalogue)).toEqual([
      "warning builtin/b.md: b is not in force: 16 definitions rank before it",
      "warning builtin/c.md: c is not in force: 16 definitions rank before it",
    ]);
  });

  test("one folder given twice counts once, at its higher rank", async () => {
    await world.write("user/a.md");
    const catalogue = await world.load({ directories: [join(world.root, "user")] });
    expect(toNames(catalogue)).toEqual(["directory a"]);
    expect(catalogue.problems).toEqual([]);
  });
});

describe("a repository's own documents", () => {
  test("are read only if asked for", async () => {
    await world.write(`${project}/own.md`);
    expect(toNames(await world.load())).toEqual([]);
    expect(toNames(await world.load({ projectAgents: true }))).toEqual(["project own"]);
  });

  test("never shadow another, and say so", async () => {
    await world.write(`${project}/explorer.md`);
    await world.write("builtin/explorer.md");
    const catalogue = await world.load({ projectAgents: true });
    expect(toNames(catalogue)).toEqual(["builtin explorer"]);
    expect(toProblems(catalogue)).toEqual([
      expect.stringContaining(`warning ${project}/explorer.md: is not in`),
    ]);
  });

  test("take no name of another with them when they are refused", async () => {
    await world.write(`${project}/explorer.md`, { keys: "tools: {}" });
    await world.write("builtin/explorer.md");
    expect(toNames(await world.load({ projectAgents: true }))).toEqual(["builtin explorer"]);
  });

  test.each(["permission: auto", "permission: ask", "permissionMode: acceptEdits"])(
    "are refused with %s",
    async (key) => {
      await world.write(`${project}/own.md`, { keys: `description: x\n${key}` });
      const catalogue = await world.load({ projectAgents: true });
      expect(toNames(catalogue)).toEqual([]);
      expect(toProblems(catalogue)[0]).toContain("can't declare a permission scope");
    },
  );

  test.each(["permission: inherit", "permissionMode: default"])("may say %s", async (key) => {
    await world.write(`${project}/own.md`, { keys: `description: x\n${key}` });
    expect(toNames(await world.load({ projectAgents: true }))).toEqual(["project own"]);
  });

  test("are no links out of the repository, neither a file nor the folder", async () => {
    const outside = await world.write("elsewhere/secret.md");
    await world.write("workspace/docs/inside.md");
    await mkdir(join(world.root, project), { recursive: true });
    await symlink(outside, join(world.root, project, "out.md"));
    await symlink("../../docs/inside.md", join(world.root, project, "in.md"));
    const catalogue = await world.load({ projectAgents: true });
    expect(toNames(catalogue)).toEqual(["project in"]);
    expect(toProblems(catalogue)).toEqual([`error ${project}/out.md: is a link out of the repository`]);

    await mkdir(join(world.root, "other/.agents"), { recursive: true });
    await symlink(join(world.root, "elsewhere"), join(world.root, "other/.agents/subagents"));
    const linked = await world.load({ projectAgents: true, workspace: join(world.root, "other") });
    expect(toNames(linked)).toEqual([]);
    expect(linked.problems.map(({ message }) => message)).toEqual(["is a link out of the repository"]);
  });
});

describe("files", () => {
  test("only *.md of the folder itself are looked at", async () => {
    for (const path of ["user/a.md", "user/b.txt", "user/.c.md", "user/sub/d.md", "user/e.md.bak"]) {
      await world.write(path);
    }
    const catalogue = await world.load();
    expect(toNames(catalogue)).toEqual(["user a"]);
    expect(catalogue.problems).toEqual([]);
  });

  test("what is no regular file is named for what it is, without blocking, beside five good ones", async () => {
    for (const name of ["a", "b", "c", "d", "e"]) await world.write(`user/${name}.md`);
    await mkdir(join(world.root, "user/folder.md"));
    execFileSync("mkfifo", [join(world.root, "user/pipe.md")]);
    await symlink("/dev/zero", join(world.root, "user/endless.md"));
    await symlink("nowhere", join(world.root, "user/dangling.md"));
    await symlink("loop.md", join(world.root, "user/loop.md"));
    const catalogue = await world.load();
    expect(catalogue.definitions).toHaveLength(5);
    expect(toProblems(catalogue)).toEqual([
      "error user/dangling.md: cannot be read (ENOENT)",
      "error user/endless.md: is a device, not a regular file",
      "error user/folder.md: is a directory, not a regular file",
      "error user/loop.md: cannot be read (ELOOP)",
      "error user/pipe.md: is a named pipe (FIFO), not a regular file",
    ]);
  });

  test("a user's link may lead anywhere", async () => {
    const target = await world.write("elsewhere/real.md");
    await mkdir(join(world.root, "user"));
    await symlink(target, join(world.root, "user/linked.md"));
    expect(toNames(await world.load())).toEqual(["user linked"]);
  });

  test("a folder that is a pipe or is missing is a problem, the user's own missing one is none", async () => {
    execFileSync("mkfifo", [join(world.root, "pipe")]);
    const directories = [join(world.root, "pipe"), join(world.root, "missing")];
    expect(toProblems(await world.load({ directories }))).toEqual([
      "error missing: does not exist",
      "error pipe: cannot be read as a folder (ENOTDIR)",
    ]);
    expect((await world.load()).problems).toEqual([]);
  });

  test("a prompt of exactly 256 KiB is read, one byte more and a file of a gigabyte are refused", async () => {
    await world.write("user/exact.md", { prompt: "é".repeat(131_072) });
    await world.write("user/more.md", { prompt: "é".repeat(131_072).concat("x") });
    await truncate(await world.write("user/sparse.md"), 2 ** 30);
    const catalogue = await world.load();
    expect(toNames(catalogue)).toEqual(["user exact"]);
    expect(toProblems(catalogue)).toEqual([
      "error user/more.md: the prompt is above 256 KiB",
      "error user/sparse.md: the prompt is above 256 KiB",
    ]);
  });

  test("of 10,000 documents the first 200 are read, and the names of the others are not in force", async () => {
    const first = await world.write("user/n0000.md");
    for (let n = 1; n < 10_000; n++) {
      linkSync(first, join(world.root, `user/n${String(n).padStart(4, "0")}.md`));
    }
    await world.write("builtin/n9999.md");
    await world.write("builtin/other.md");
    const before = performance.now();
    const catalogue = await world.load();
    expect(performance.now() - before).toBeLessThan(5_000);
    expect(toNames(catalogue)).toHaveLength(16);
    expect(toProblems(catalogue)[0]).toBe(
      "error user: holds 10000 documents; those after n0199.md are not read",
    );
    expect(toProblems(catalogue)).toContainEqual(
      expect.stringContaining("warning builtin/n9999.md: is not in force"),
    );
    expect(JSON.stringify(catalogue).length).toBeLessThan(100_000);
  }, 30_000);
});
