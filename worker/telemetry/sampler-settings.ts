import { type Environment, readText, readWord, refuseValue } from "./environment.ts";

const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

/** Which traces are kept. */
export interface SamplerSettings {
  /** Whether a trace that comes from elsewhere decides for itself. */
  isParentBased: boolean;
  /** Share of the traces that begin here. */
  ratio: number;
}

/** Read OTEL_TRACES_SAMPLER and its argument; every trace is kept by default. @throws ConfigurationError. */
export function readSampler(environment: Environment): SamplerSettings {
  const sampler = readWord(environment, "OTEL_TRACES_SAMPLER", samplers) ?? "parentbased_always_on";
  return { isParentBased: sampler.startsWith("parentbased_"), ratio: toRatio(sampler, environment) };
}

function toRatio(sampler: (typeof samplers)[number], environment: Environment): number {
  if (!sampler.endsWith("traceidratio")) return sampler.endsWith("always_on") ? 1 : 0;
  const value = readText(environment, "OTEL_TRACES_SAMPLER_ARG");
  const ratio = value === undefined ? 1 : Number(value);
  if (ratio >= 0 && ratio <= 1) return ratio;
  return refuseValue("OTEL_TRACES_SAMPLER_ARG", value ?? "", "it may be a number from 0 to 1");
}
