const MAGIC = /[*?[\]{}()!\\+@]/;

export interface GlobParts {
  /** Leading parts without a wildcard: a path to resolve; "" for none. */
  base: string;
  /** What is left, relative to the base. */
  rest: string;
}

/** Split a glob pattern into the folder that it starts in and what is matched below it. */
export function splitGlob(pattern: string): GlobParts {
  const parts = pattern.split("/");
  let index = 0;
  while (index < parts.length - 1 && !MAGIC.test(parts[index] ?? "")) index += 1;
  const base = parts.slice(0, index).join("/");
  const last = parts.slice(index).join("/");
  // A last part that climbs is a folder, not a name.
  if (last === ".." || last === ".") return { base: join(base, last, pattern), rest: "" };
  return { base: base === "" && pattern.startsWith("/") ? "/" : base, rest: last };
}

/** The folder in which a pattern starts, seen from `path`. */
export function toGlobBase(pattern: string, path: string): string {
  const { base } = splitGlob(pattern);
  if (base.startsWith("/")) return base;
  if (base === "") return path;
  return path === "." ? base : `${path}/${base}`;
}

function join(base: string, last: string, pattern: string): string {
  if (base !== "") return `${base}/${last}`;
  return pattern.startsWith("/") ? `/${last}` : last;
}
