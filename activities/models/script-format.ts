import { readFile, stat } from "node:fs/promises";
import { z } from "zod";
import { normalizeAgentName } from "../../core/names.ts";

const MAX_SCRIPT_BYTES = 16 * 1024 * 1024;
const MAX_STEP_SECONDS = 86_400;

/** An object that names the keys it allows when it is given another one. */
function closedObject<Shape extends z.ZodRawShape>(shape: Shape) {
  const allowed = Object.keys(shape).join(", ");
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `unknown key ${issue.keys.map((key) => `"${key}"`).join(", ")}; allowed: ${allowed}`
        : undefined,
  });
}

const seconds = z.number().min(0).max(MAX_STEP_SECONDS);
const characters = z.number().int().min(0);

const callSchema = closedObject({
  tool: z.string().min(1),
  input: z.record(z.string(), z.json()).default({}),
  id: z.string().min(1).max(64).optional(),
});

const errorSchema = closedObject({
  status: z.number().int().min(400).max(599).optional(),
  type: z.string().optional(),
  message: z.string(),
  retryAfterSeconds: z.number().min(0).optional(),
  times: z.number().int().min(1).optional(),
  afterCharacters: characters.optional(),
});

const silenceSchema = z.union(
  [z.literal(true), seconds, closedObject({ afterCharacters: characters, seconds: seconds.optional() })],
  {
    error: `allowed: true, a number of seconds from 0 to ${MAX_STEP_SECONDS}, or {"afterCharacters": n, "seconds"?: n}`,
  },
);

const stepSchema = closedObject({
  text: z.string().optional(),
  thinking: z.string().optional(),
  calls: z.array(callSchema).optional(),
  delaySeconds: seconds.optional(),
  tokensPerSecond: z.number().positive().optional(),
  silence: silenceSchema.optional(),
  error: errorSchema.optional(),
  stop: z.enum(["stop", "length", "content_filter", "none"]).optional(),
  repeat: z
    .union([z.literal(true), z.number().int().min(1)], { error: "allowed: true, or a whole number from 1" })
    .optional(),
  closing: z.literal(true).optional(),
}).check(({ value, issues }) => {
  const isMute = [value.text, value.thinking, value.calls, value.silence, value.error].every(
    (part) => part === undefined,
  );
  const problem = isMute
    ? 'a step needs text, thinking, calls, silence or error; an empty answer is "text": ""'
    : value.closing && (value.calls !== undefined || value.repeat !== undefined)
      ? "a closing step has neither calls nor repeat: it is played where no tools are offered"
      : undefined;
  if (problem !== undefined) issues.push({ code: "custom", message: problem, input: value });
});
export type ScriptStep = z.infer<typeof stepSchema>;

const stepsSchema = z.array(stepSchema).check(({ value, issues }) => {
  const endless = value.findIndex((step) => step.repeat === true);
  const isFollowed = endless >= 0 && value.slice(endless + 1).some((step) => !step.closing);
  const isClosedTwice = value.filter((step) => step.closing).length > 1;
  const problem = isFollowed
    ? `no step after [${endless}] is ever played: it has "repeat": true`
    : isClosedTwice
      ? "at most one step may be closing"
      : undefined;
  if (problem !== undefined) issues.push({ code: "custom", message: problem, input: value });
});

const partSchema = closedObject({ when: z.string().min(1).optional(), steps: stepsSchema });
/** What one agent plays if its task contains `when`. */
type ScriptPart = z.infer<typeof partSchema>;

/** An agent's entry is a list of steps, or a list of parts; the first element with `steps` decides which problems are told. */
const partsSchema = z.array(z.unknown()).transform((items, context): ScriptPart[] => {
  const hasParts = items.some((item) => typeof item === "object" && item !== null && "steps" in item);
  const result = hasParts ? z.array(partSchema).safeParse(items) : stepsSchema.safeParse(items);
  if (result.success)
    return hasParts ? (result.data as ScriptPart[]) : [{ steps: result.data as ScriptStep[] }];
  for (const { path, message } of result.error.issues) {
    context.issues.push({ code: "custom", path, message, input: items });
  }
  return z.NEVER;
});

const scriptSchema = closedObject({
  about: z.string().optional(),
  main: stepsSchema.optional(),
  agents: z.record(z.string(), partsSchema).optional(),
  default: stepsSchema.optional(),
});

/** The words of a session's agents, by agent. */
export interface Script {
  file: string;
  main: ScriptStep[] | undefined;
  /** By normalized name. */
  agents: ReadonlyMap<string, ScriptPart[]>;
  default: ScriptStep[] | undefined;
}

/** Read and check a script; a problem names the file, the place in it and what is allowed there. */
export async function readScript(
  file: string,
): Promise<{ kind: "script"; script: Script } | { kind: "problem"; message: string }> {
  const text = await readText(file);
  if (text.kind === "problem") return text;
  let document: unknown;
  try {
    document = JSON.parse(text.text);
  } catch (error) {
    return problem(file, `not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const result = scriptSchema.safeParse(document);
  if (!result.success) {
    return problem(
      file,
      result.error.issues
        .slice(0, 10)
        .map((issue) => `${toPlace(issue.path)}: ${issue.message}`)
        .join("; "),
    );
  }
  const { main, agents = {}, default: others } = result.data;
  const byName = Object.entries(agents).map(([name, parts]) => [normalizeAgentName(name), parts] as const);
  return { kind: "script", script: { file, main, agents: new Map(byName), default: others } };
}

async function readText(
  file: string,
): Promise<{ kind: "text"; text: string } | { kind: "problem"; message: string }> {
  try {
    const found = await stat(file);
    if (!found.isFile()) return problem(file, "not a regular file");
    if (found.size > MAX_SCRIPT_BYTES) return problem(file, `larger than ${MAX_SCRIPT_BYTES} bytes`);
    const text = await readFile(file, "utf8");
    return { kind: "text", text: text.replace(/^\uFEFF/, "") };
  } catch (error) {
    return problem(file, `can't be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function problem(file: string, what: string): { kind: "problem"; message: string } {
  return { kind: "problem", message: `script ${file}: ${what} (see docs/script-format.md)` };
}

/** Write a path as it would be written in JavaScript: `agents.explorer[0].calls[1].tool`. */
function toPlace(path: readonly PropertyKey[]): string {
  const place = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
  return place === "" ? "the document" : place.replace(/^\./, "");
}
