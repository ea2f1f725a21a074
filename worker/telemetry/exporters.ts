import { type Environment, readText, refuseValue } from "./environment.ts";

/** How a setting that OpenTelemetry knows and that can't be met here is taken: refused where the flag was given, else said and passed over. */
export type PassOver = (name: string, value: string, reason: string) => void;

/** Make the way in which such a setting is taken. */
export function toPassOver(isAsked: boolean, warnings: string[]): PassOver {
  return (name, value, reason) => {
    if (isAsked) refuseValue(name, value, reason);
    warnings.push(`${name} is ${JSON.stringify(value)}: ${reason}; it is passed over`);
  };
}

/**
 * Read a list of exporters: one or several with commas between them, in any case. `none` among them turns the signal off.
 *
 * @param words those that are here
 * @param others those that OpenTelemetry names and that are not here
 * @returns undefined where none is named; empty for off
 * @throws ConfigurationError for a word that nobody knows.
 */
export function readExporters<Word extends string>(
  environment: Environment,
  name: string,
  { words, others }: { words: readonly Word[]; others: readonly string[] },
  passOver: PassOver,
): Word[] | undefined {
  const named = (readText(environment, name) ?? "").toLowerCase().split(",").map(trim).filter(isNotEmpty);
  if (named.length === 0) return undefined;
  if (named.includes("none")) return [];
  const allowed = `it may be ${[...words, "none"].join(", ")}`;
  const found = new Set<Word>();
  for (const word of named) {
    const known = words.find((candidate) => candidate === word);
    if (known !== undefined) found.add(known);
    else if (others.includes(word)) passOver(name, word, allowed);
    else refuseValue(name, word, allowed);
  }
  return [...found];
}

function trim(word: string): string {
  return word.trim();
}

function isNotEmpty(word: string): boolean {
  return word !== "";
}
