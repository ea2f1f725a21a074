import type { ToolName } from "../../core/tools.ts";
import { toGlobBase } from "./glob-base.ts";
import type { Roots } from "./inside.ts";
import { Refusal } from "./refusal.ts";
import { resolvePath } from "./resolve.ts";

export interface PermissionTarget {
  /** What the call is about: a resolved path, a command. Raw text: escape and bound it where it is shown. */
  target: string;
  /** Undefined for a tool without a path. */
  inside: boolean | undefined;
}

/**
 * Say what a tool call touches, for the decision before it runs. An outside `target` that was allowed goes into the context's
 * `allowedOutside` as it is.
 *
 * A path that can't name a file counts as inside: the tool refuses it by itself, and nobody needs to be asked about it.
 */
export async function toPermissionTarget(
  tool: ToolName,
  input: unknown,
  roots: Roots,
): Promise<PermissionTarget> {
  if (tool === "Bash") return { target: toText(input, "command"), inside: undefined };
  const spelled = toSpelledPath(tool, input);
  try {
    const { real, isInside } = await resolvePath(spelled, roots);
    return { target: real, inside: isInside };
  } catch (error) {
    if (error instanceof Refusal) return { target: spelled, inside: true };
    throw error;
  }
}

function toSpelledPath(tool: ToolName, input: unknown): string {
  const path = toText(input, "path");
  if (tool === "Glob") return toGlobBase(toText(input, "pattern"), path || ".");
  return tool === "Grep" ? path || "." : path;
}

function toText(input: unknown, key: string): string {
  if (typeof input !== "object" || input === null) return "";
  const value: unknown = Reflect.get(input, key);
  return typeof value === "string" ? value : "";
}
