import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type CatalogueHost, loadCatalogue } from "../../activities/definitions/load-catalogue.ts";
import type { ResolveModelPin } from "../../activities/definitions/model-pin.ts";
import type { Catalogue, CatalogueRequest, Definition } from "../../core/definition.ts";

export const fixtures = fileURLToPath(new URL("../fixtures/definitions", import.meta.url));

/** A small world of models: `acme/<anything>`, and the bare name `large`. */
const resolveAcme: ResolveModelPin = (pin, { aliases }) => {
  const name = aliases[pin] ?? pin;
  const toModel = (id: string) => ({ kind: "provider", provider: "acme", id }) as const;
  if (name.startsWith("acme/")) return { kind: "resolved", model: toModel(name.slice(5)) };
  if (name === "large") return { kind: "resolved", model: toModel("large"), note: "large is acme/large" };
  return { kind: "unresolved", reason: `acme has no model ${name}` };
};

export interface World extends CatalogueHost {
  root: string;
  request: CatalogueRequest;
  load(changes?: Partial<CatalogueRequest>): Promise<Catalogue>;
  /** Write a document, `folder/name.md` below the root; what is not given is the plainest. */
  write(path: string, document?: { keys?: string; prompt?: string }): Promise<string>;
  remove(): Promise<void>;
}

/** Real folders for every rank, empty but for what a test writes into them. */
export async function createWorld(): Promise<World> {
  const root = await mkdtemp(join(tmpdir(), "definitions-"));
  const request: CatalogueRequest = {
    workspace: join(root, "workspace"),
    directories: [],
    projectAgents: false,
    modelAliases: {},
    sessionModel: { kind: "provider", provider: "acme", id: "large" },
  };
  const host = {
    builtinDirectory: join(root, "builtin"),
    userDirectory: join(root, "user"),
    promptsDirectory: join(root, "state", "prompts"),
    resolveModelPin: resolveAcme,
  };
  await mkdir(host.builtinDirectory);
  await mkdir(request.workspace);
  return {
    root,
    request,
    ...host,
    load: (changes) => loadCatalogue({ ...request, ...changes }, host),
    write: async (path, { keys = "description: Reads things", prompt = "You read." } = {}) => {
      const file = join(root, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, `---\n${keys}\n---\n${prompt}\n`);
      return file;
    },
    remove: () => rm(root, { recursive: true }),
  };
}

/** Load one folder of fixtures beside an empty world. */
export async function loadFixture(folder: string): Promise<Catalogue> {
  const world = await createWorld();
  const catalogue = await world.load({ directories: [join(fixtures, folder)] });
  await world.remove();
  return catalogue;
}

/** Load the definitions that come with the program. */
export async function loadBuiltins(): Promise<Definition[]> {
  const world = await createWorld();
  const builtins = fileURLToPath(new URL("../../agents", import.meta.url));
  const { definitions } = await world.load({ directories: [builtins] });
  await world.remove();
  return definitions;
}

/** Write an outcome on one line: what differs from the plainest definition, then the problems by severity, line and key. */
export function toOutcome({ definitions, problems }: Catalogue): string {
  const [definition] = definitions;
  const state = definition === undefined ? "refused" : ["in force", ...toDifferences(definition)].join(", ");
  const found = problems.map(({ severity, line, key }) => `${severity} ${line} ${key}`.trim());
  return [state, ...found].join("; ");
}

function toDifferences(definition: Definition): string[] {
  const { model } = definition;
  const pairs: [string, string, string][] = [
    ["name", definition.name, "sample"],
    ["tools", definition.tools.join(" "), "Read Glob Grep"],
    ["permission", definition.permission, "inherit"],
    ["model", model === undefined ? "" : model.kind === "provider" ? model.id : model.kind, ""],
    ["thinking", definition.thinkingLevel ?? "", ""],
    ["turns", String(definition.maxTurns ?? ""), ""],
    ["idle", String(definition.idleTimeoutSeconds ?? ""), ""],
    ["duration", String(definition.maxDurationSeconds ?? ""), ""],
  ];
  return pairs.filter(([, value, plain]) => value !== plain).map(([label, value]) => `${label} ${value}`);
}
