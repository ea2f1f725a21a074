/** A model's id taken apart: what it is, and how new. */
interface ModelName {
  id: string;
  /** The words of the id without versions and dates, such as `claude-sonnet`. */
  family: string;
  /** Version numbers in order, such as [4, 5]. */
  version: number[];
  /** Release dates as written in the id, digits only. */
  dates: string[];
  /** The provider's own pointer to its newest, such as `gemini-flash-latest`. */
  isLatest: boolean;
  isPreview: boolean;
}

/** Take a model's id apart into words, version, dates and marks. */
function toModelName(id: string): ModelName {
  const name: ModelName = { id, family: "", version: [], dates: [], isLatest: false, isPreview: false };
  const words: string[] = [];
  for (const token of id
    .toLowerCase()
    .split(/[-_/:@~\s]+/)
    .filter(Boolean)) {
    if (token === "latest") name.isLatest = true;
    else if (/^(preview|exp|experimental|beta)$/.test(token)) name.isPreview = true;
    else if (/^\d{4,8}$/.test(token)) name.dates.push(token);
    else if (/^v?\d+(\.\d+)*$/.test(token))
      name.version.push(...token.replace("v", "").split(".").map(Number));
    else words.push(token);
  }
  name.family = words.join("-");
  return name;
}

export type FamilyMatch =
  | { kind: "model"; id: string; family: string; isExact: boolean }
  | { kind: "none" }
  | { kind: "families"; families: string[] }
  | { kind: "versions"; family: string; ids: string[] };

/**
 * Find the one model that a bare name means among a provider's ids: the very id; else the newest of the only family that has
 * the name's words in a row; a version in the name must be met exactly. A family of exactly that name is preferred to longer ones.
 */
export function matchFamily(bare: string, ids: readonly string[]): FamilyMatch {
  const exact = ids.find((id) => id.toLowerCase() === bare.toLowerCase());
  if (exact !== undefined)
    return { kind: "model", id: exact, family: toModelName(exact).family, isExact: true };
  const wanted = toModelName(bare);
  if (wanted.family === "") return { kind: "none" };
  const names = ids.map(toModelName);
  const families = [...new Set(names.map((name) => name.family))].filter((family) =>
    `-${family}-`.includes(`-${wanted.family}-`),
  );
  const family = families.length === 1 ? families[0] : families.find((name) => name === wanted.family);
  if (family === undefined) {
    return families.length === 0 ? { kind: "none" } : { kind: "families", families: families.sort() };
  }
  const members = names.filter((name) => name.family === family);
  const fitting = members.filter((name) => isFitting(name, wanted));
  const newest = fitting.sort(byAge).at(-1);
  return newest === undefined
    ? { kind: "versions", family, ids: members.map((name) => name.id) }
    : { kind: "model", id: newest.id, family, isExact: false };
}

function isFitting(name: ModelName, wanted: ModelName): boolean {
  if (wanted.isLatest && !name.isLatest) return false;
  if (wanted.dates.some((date) => !name.dates.includes(date))) return false;
  return wanted.version.length === 0 || wanted.version.join(".") === name.version.join(".");
}

/** Oldest first. The provider's own pointer is the newest by definition; of one version the undated, finished one wins. */
function byAge(left: ModelName, right: ModelName): number {
  if (left.isLatest !== right.isLatest) return left.isLatest ? 1 : -1;
  const length = Math.max(left.version.length, right.version.length);
  for (let index = 0; index < length; index++) {
    const difference = (left.version[index] ?? -1) - (right.version[index] ?? -1);
    if (difference !== 0) return difference;
  }
  if (left.isPreview !== right.isPreview) return left.isPreview ? -1 : 1;
  if (left.dates.length !== right.dates.length) return right.dates.length - left.dates.length;
  return left.dates.join().localeCompare(right.dates.join(), "en");
}
