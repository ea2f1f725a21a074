/** What a person configured can't be understood: nothing is started. A command that meets one ends with exit code 2. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
  readonly code = "Configuration.Invalid";
  readonly exitCode = 2;
}

/** The variables may be meant for other programs. */
const HOW_TO_TURN_OFF = "OTEL_SDK_DISABLED=true turns traces and metrics off";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Read a variable; an empty one counts as not set. */
export function readText(environment: Environment, name: string): string | undefined {
  return environment[name]?.trim() || undefined;
}

/** Read the first variable that is set, and its name. */
export function readFirst(
  environment: Environment,
  ...names: string[]
): { name: string; value: string } | undefined {
  for (const name of names) {
    const value = readText(environment, name);
    if (value !== undefined) return { name, value };
  }
  return undefined;
}

/** @throws ConfigurationError that names the variable, the value seen, and what may stand there. */
export function refuseValue(name: string, value: string, allowed: string): never {
  throw new ConfigurationError(`${name} is ${JSON.stringify(value)}: ${allowed}. ${HOW_TO_TURN_OFF}`);
}

/** Read one of some words, in any case. @throws ConfigurationError. */
export function readWord<Word extends string>(
  environment: Environment,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const value = readText(environment, name);
  if (value === undefined) return undefined;
  const found = words.find((word) => word === value.toLowerCase());
  return found ?? refuseValue(name, value, `it may be ${words.join(", ")}`);
}

/** Read a whole number within bounds. @throws ConfigurationError. */
export function readWhole(
  environment: Environment,
  name: string,
  minimum: number,
  maximum: number,
): number | undefined {
  const value = readText(environment, name);
  if (value === undefined) return undefined;
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= minimum && number <= maximum) return number;
  return refuseValue(name, value, `it may be a whole number from ${minimum} to ${maximum}`);
}

/** Read pairs of `key=value`, percent-encoded, with commas between them. @throws ConfigurationError without the value where it may be a secret. */
export function readPairs(
  environment: Environment,
  name: string,
  { isSecret = false } = {},
): Record<string, string> {
  const text = readText(environment, name);
  if (text === undefined) return {};
  const entries = text.split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(entries.map((pair) => toPair(pair) ?? refusePair(name, text, isSecret)));
}

function refusePair(name: string, text: string, isSecret: boolean): never {
  const form = "it must be key=value pairs with commas between them, percent-encoded";
  if (!isSecret) refuseValue(name, text, form);
  throw new ConfigurationError(`${name} can't be read: ${form}. ${HOW_TO_TURN_OFF}`);
}

function toPair(pair: string): [string, string] | undefined {
  const at = pair.indexOf("=");
  try {
    const key = decodeURIComponent(pair.slice(0, at).trim());
    return at > 0 && key !== "" ? [key, decodeURIComponent(pair.slice(at + 1).trim())] : undefined;
  } catch {
    return undefined;
  }
}
