import { realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import type {
  Catalogue,
  CatalogueRequest,
  Definition,
  DefinitionProblem,
  DefinitionSource,
} from "../../core/definition.ts";
import { MAX_DEFINITIONS } from "../../core/limits.ts";
import { bound } from "../../core/text.ts";
import { decode } from "./decode.ts";
import { listDocuments } from "./list-documents.ts";
import type { ResolveModelPin } from "./model-pin.ts";
import { type Draft, type ParsedDocument, parseDefinition, refuseDocument } from "./parse-definition.ts";
import { type Finding, warning } from "./problem.ts";
import { writePrompt } from "./prompt-store.ts";
import { readDocument } from "./read-document.ts";

/** What the loader needs of its host. */
export interface CatalogueHost {
  builtinDirectory: string;
  /** `~/.agents/subagents`; undefined where there is no home. */
  userDirectory: string | undefined;
  /** Where prompts are kept by their hash. */
  promptsDirectory: string;
  resolveModelPin: ResolveModelPin;
}

/** A catalogue travels through a history: its problems are bounded too. */
const MAX_PROBLEMS = 200;
const MAX_PROBLEM_CHARACTERS = 400;

interface Source {
  source: DefinitionSource;
  directory: string;
}

interface Claim extends Source {
  file: string;
  isRefused: boolean;
}

interface Candidate extends Source {
  file: string;
  draft: Draft;
}

/**
 * Read the definitions in force, highest rank first, and keep their prompts.
 *
 * A name belongs to the first document that takes it, a refused one included. A bad document costs only itself; what is odd is in
 * `problems`, bounded. The result depends on the documents alone, not on the order in which a folder is read.
 *
 * @throws Error if a prompt can't be kept: without it no delegate could start.
 */
export async function loadCatalogue(request: CatalogueRequest, host: CatalogueHost): Promise<Catalogue> {
  const loading = new Loading();
  for (const source of toSources(request, host)) await loading.addDirectory(source, request.workspace);
  const candidates = loading.dropBeyondCap();
  const definitions: Definition[] = [];
  for (const candidate of candidates) {
    definitions.push(
      await toDefinition(candidate, request, host, (finding) => loading.report(candidate.file, finding)),
    );
  }
  return { definitions, problems: boundProblems(loading.problems) };
}

/** Highest rank first. A repository's own definitions come last: they never shadow another. */
function toSources(request: CatalogueRequest, host: CatalogueHost): Source[] {
  const sources: Source[] = request.directories
    .toReversed()
    .map((directory) => ({ source: "directory", directory }));
  if (host.userDirectory !== undefined) sources.push({ source: "user", directory: host.userDirectory });
  sources.push({ source: "builtin", directory: host.builtinDirectory });
  if (request.projectAgents) {
    sources.push({ source: "project", directory: join(request.workspace, ".agents/subagents") });
  }
  return sources;
}

class Loading {
  readonly problems: DefinitionProblem[] = [];
  private readonly candidates: Candidate[] = [];
  private readonly claims = new Map<string, Claim>();
  private readonly seen = new Set<string>();

  report(file: string, finding: Finding): void {
    this.problems.push({ file, ...finding });
  }

  async addDirectory(source: Source, workspace: string): Promise<void> {
    const list = await listDocuments(source.directory);
    const isOptional = source.source === "user" && list.problems[0]?.message === "does not exist";
    if (!isOptional) this.problems.push(...list.problems);
    if (list.directory === undefined || this.seen.has(list.directory)) return;
    this.seen.add(list.directory);
    const within = source.source === "project" ? await realpath(workspace) : undefined;
    for (const file of list.files) {
      const parsed = await parseFile(file, source.source, within);
      for (const finding of parsed.findings) this.report(file, finding);
      this.claim(source, file, parsed);
    }
    for (const file of list.unread) {
      this.claim(source, file, refuseDocument("", basename(file, ".md"), []));
    }
  }

  private claim(source: Source, file: string, { draft, names }: ParsedDocument): void {
    for (const name of names) {
      const holder = this.claims.get(name);
      if (holder === undefined) this.claims.set(name, { ...source, file, isRefused: draft === undefined });
      else if (draft !== undefined) this.reportShadowed(source, file, name, holder);
      if (holder === undefined && draft !== undefined) this.candidates.push({ ...source, file, draft });
    }
  }

  /** Shadowing is what ranks are for; it is reported only where the author would not expect it. */
  private reportShadowed(source: Source, file: string, name: string, holder: Claim): void {
    const isExpected =
      !holder.isRefused && holder.directory !== source.directory && source.source !== "project";
    if (isExpected) return;
    const why = holder.isRefused ? "which is refused" : "which ranks first";
    const message = `is not in force: ${name} is the name of ${holder.file}, ${why}`;
    this.report(
      file,
      warning(0, "name", message, holder.isRefused ? "a document there that is in order" : "another name"),
    );
  }

  dropBeyondCap(): Candidate[] {
    for (const { file, draft } of this.candidates.slice(MAX_DEFINITIONS)) {
      const message = `${draft.name} is not in force: ${MAX_DEFINITIONS} definitions rank before it`;
      this.report(file, warning(0, "", message, `at most ${MAX_DEFINITIONS} definitions`));
    }
    return this.candidates.slice(0, MAX_DEFINITIONS);
  }
}

async function parseFile(
  file: string,
  source: DefinitionSource,
  within: string | undefined,
): Promise<ParsedDocument> {
  const stem = basename(file, ".md");
  const { bytes, fault } = await readDocument(file, within);
  const decoded = decode(bytes);
  const refused = fault ?? decoded.fault;
  return refused === undefined
    ? parseDefinition(decoded.text, stem, source)
    : refuseDocument(decoded.text, stem, [refused]);
}

async function toDefinition(
  { draft, source, file }: Candidate,
  request: CatalogueRequest,
  host: CatalogueHost,
  report: (finding: Finding) => void,
): Promise<Definition> {
  const { modelPin, prompt, ...rest } = draft;
  const promptSha256 = await writePrompt(host.promptsDirectory, prompt);
  const definition: Definition = { ...rest, source, file, promptSha256 };
  if (modelPin === undefined) return definition;
  const { pin, key, line } = modelPin;
  const { modelAliases: aliases, sessionModel } = request;
  const resolution = await host.resolveModelPin(pin, { aliases, sessionModel });
  if (resolution.kind === "resolved") {
    if (resolution.note !== undefined) report(warning(line, key, resolution.note, "<provider>/<model>"));
    return { ...definition, model: resolution.model };
  }
  const instead = "<provider>/<model>, inherit, or a name that --model-alias explains";
  report(warning(line, key, `cannot be started: ${resolution.reason}`, instead));
  return { ...definition, model: { kind: "unresolved", pin, reason: resolution.reason } };
}

function boundProblems(problems: readonly DefinitionProblem[]): DefinitionProblem[] {
  const shorten = (text: string) => bound(text, MAX_PROBLEM_CHARACTERS, () => "…");
  const kept = problems.slice(0, MAX_PROBLEMS).map((problem) => ({
    ...problem,
    key: shorten(problem.key),
    message: shorten(problem.message),
    instead: shorten(problem.instead),
  }));
  const rest = problems.slice(MAX_PROBLEMS);
  const last = rest.at(-1);
  if (last === undefined) return kept;
  const severity = rest.some((problem) => problem.severity === "error") ? "error" : "warning";
  const message = `${rest.length} more problems are not listed`;
  return [
    ...kept,
    { file: last.file, line: 0, key: "", severity, message, instead: "those above anew first" },
  ];
}
