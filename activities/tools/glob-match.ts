import { Minimatch } from "minimatch";
import { splitGlob } from "../paths/glob-base.ts";
import { isBelow } from "../paths/inside.ts";
import { Refusal, showPath } from "../paths/refusal.ts";

const MAX_PATTERN_CHARACTERS = 1_000;
/** Alternatives that the braces of a pattern may stand for. */
const MAX_ALTERNATIVES = 1_000;

/**
 * Make a matcher for paths relative to a search's folder. A pattern without a slash matches names at any depth. Hidden names match
 * like others. Braces, `**` and classes work; extended patterns and negation do not.
 *
 * @throws Refusal for a pattern that climbs out or is too long.
 */
export function toGlobMatcher(pattern: string, { isAnyDepth }: { isAnyDepth: boolean }) {
  if (pattern.length > MAX_PATTERN_CHARACTERS) {
    throw new Refusal(
      `the pattern has ${pattern.length} characters, at most ${MAX_PATTERN_CHARACTERS} are taken`,
    );
  }
  if (pattern.includes("\0")) throw new Refusal("the pattern has a NUL character in it");
  if (/(^|[/{,])\.\.([/},]|$)/.test(pattern)) {
    throw new Refusal(
      `the pattern ${showPath(pattern)} climbs with \`..\` after a wildcard; start it, or path, in the folder that is meant`,
    );
  }
  const matcher = new Minimatch(pattern.replace(/^(\.\/)+/, ""), {
    dot: true,
    matchBase: isAnyDepth,
    noext: true,
    nonegate: true,
    nocomment: true,
    braceExpandMax: MAX_ALTERNATIVES,
    platform: "linux",
  });
  return (path: string) => matcher.match(path);
}

/** Say whether a file pattern, as Grep takes it, means names at any depth. */
export function isNamePattern(pattern: string): boolean {
  return !pattern.includes("/");
}

/** Bring an absolute file pattern below the searched folder into the form that is matched. */
export function toRelativeGlob(glob: string, root: string): string {
  if (!glob.startsWith("/")) return glob;
  const { base, rest } = splitGlob(glob);
  if (!isBelow(base, root)) {
    throw new Refusal(`glob ${showPath(glob)} lies outside the searched folder ${showPath(root)}`);
  }
  return `${base.slice(root.length)}/${rest}`.replace(/^\/+/, "");
}

/** A plain name pattern for ripgrep's own file types: it saves reading files that cannot match, and never widens. */
export function toNameGlob(glob: string): string | undefined {
  const name = glob.slice(glob.lastIndexOf("/") + 1);
  const isPlain = /^[\w.*?,{}-]+$/.test(name) && !name.includes("**") && !/\{[^}]*\//.test(glob);
  const isBalanced = name.split("{").length === name.split("}").length;
  return isPlain && isBalanced ? name : undefined;
}
