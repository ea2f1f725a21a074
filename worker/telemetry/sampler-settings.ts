import { type Environment, readText, readWord, refuseValue } from "./environment.ts";
import type { PassOver } from "./exporters.ts";

const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

/** Those that OpenTelemetry names and that are not here. */
const samplersElsewhere = ["jaeger_remote", "xray"].flatMap((name) => [name, `parentbased_${name}`]);

/** Which traces are kept. */
export interface SamplerSettings {
  /** Whether a trace that comes from elsewhere decides for itself. */
  isParentBased: boolean;
  /** Share of the traces that begin here. */
  ratio: number;
}

/** Read OTEL_TRACES_SAMPLER and its argument; every trace is kept by default. @throws ConfigurationError. */
export function readSampler(environment: Environment, passOver: PassOver): SamplerSettings {
  const sampler = readKnown(environment, passOver) ?? "parentbased_always_on";
  return { isParentBased: sampler.startsWith("parentbased_"), ratio: toRatio(sampler, environment) };
}

function readKnown(environment: Environment, passOver: PassOver): (typeof samplers)[number] | undefined {
  const name = "OTEL_TRACES_SAMPLER";
  const value = readText(environment, name)?.toLowerCase();
  if (value === undefined || !samplersElsewhere.includes(value)) return readWord(environment, name, samplers);
  passOver(name, value, `it may be ${samplers.join(", ")}`);
  return undefined;
}

function toRatio(sampler: (typeof samplers)[number], environment: Environment): number {
  if (!sampler.endsWith("traceidratio")) return sampler.endsWith("always_on") ? 1 : 0;
  const value = readText(environment, "OTEL_TRACES_SAMPLER_ARG");
  const ratio = value === undefined ? 1 : Number(value);
  if (ratio >= 0 && ratio <= 1) return ratio;
  return refuseValue("OTEL_TRACES_SAMPLER_ARG", value ?? "", "it may be a number from 0 to 1");
}
