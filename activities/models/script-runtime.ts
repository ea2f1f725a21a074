import { basename } from "node:path";
import type { StreamFn } from "@earendil-works/pi-agent-core";
import type { Api, Model } from "@earendil-works/pi-ai";
import { estimateContextTokens } from "@earendil-works/pi-ai/utils/estimate";
import { type ModelSource, toModelLabel } from "../../core/definition.ts";
import { noEvidence } from "./evidence.ts";
import { classifyFailure } from "./failure.ts";
import { toRedactor } from "./redact.ts";
import { createRefusingRuntime } from "./refusing-runtime.ts";
import type { ModelRuntime } from "./runtime.ts";
import { readScript, type ScriptStep } from "./script-format.ts";
import { playStep } from "./script-play.ts";
import { type ScriptRole, selectStep } from "./script-select.ts";

/** Make a model of a script file. The words come from the file; everything that they set going is real. */
export async function createScriptRuntime(
  source: Extract<ModelSource, { kind: "script" }>,
  role: ScriptRole,
  environment: NodeJS.ProcessEnv,
): Promise<ModelRuntime> {
  const read = await readScript(source.file);
  const model = toScriptModel(source.file);
  const label = toModelLabel(source);
  if (read.kind === "problem") {
    return createRefusingRuntime(model, label, { code: "PROVIDER_BAD_REQUEST", message: read.message });
  }
  const failures = new Map<ScriptStep, number>();
  let evidence = noEvidence();
  const streamFn: StreamFn = (requested, context, options) => {
    evidence = noEvidence();
    const selection = selectStep(read.script, role, context, options?.toolChoice);
    const inputTokens = estimateContextTokens(context).tokens;
    const common = { model: requested, inputTokens, signal: options?.signal, evidence };
    if (selection.kind === "none") {
      const error = { message: selection.reason, type: "invalid_script" };
      return playStep({ ...common, step: { error }, callIds: [], isFailing: true });
    }
    const { step, played, repeated } = selection;
    const failed = failures.get(step) ?? 0;
    const isFailing = step.error !== undefined && failed < (step.error.times ?? Number.POSITIVE_INFINITY);
    if (isFailing) failures.set(step, failed + 1);
    return playStep({ ...common, step, isFailing, callIds: toCallIds(step, played, repeated) });
  };
  const redact = toRedactor(environment);
  const takeFailure: ModelRuntime["takeFailure"] = (message) => {
    const failure = classifyFailure(message, evidence, Date.now());
    return { ...failure, message: redact(failure.message) };
  };
  return { model, label, streamFn, takeFailure };
}

/** Unique within a transcript and the same whenever the step is played: a repeated call must be known as the same one. */
function toCallIds({ calls = [] }: ScriptStep, played: number, repeated: number): string[] {
  return calls.map(({ id }, index) => {
    if (id === undefined) return `call-${played + 1}-${index + 1}`;
    return repeated === 0 ? id : `${id}-${repeated + 1}`;
  });
}

function toScriptModel(file: string): Model<Api> {
  return {
    id: basename(file),
    name: basename(file),
    api: "script",
    provider: "script",
    baseUrl: "",
    reasoning: false,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 1_000_000,
    maxTokens: 100_000,
  };
}
