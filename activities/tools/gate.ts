import { isBelow } from "../paths/inside.ts";
import { Refusal, showPath } from "../paths/refusal.ts";
import { type ResolvedPath, resolvePath } from "../paths/resolve.ts";
import type { ToolContext } from "./tool.ts";

/**
 * Resolve a path and pass it only if it is inside or was allowed for this call.
 *
 * @throws Refusal that shows where the path really leads.
 */
export async function toAllowedPath(spelled: string, context: ToolContext): Promise<ResolvedPath> {
  const resolved = await resolvePath(spelled, context);
  if (resolved.isInside || context.allowedOutside?.includes(resolved.real)) return resolved;
  throw new Refusal(
    `${showPath(spelled)} leads to ${showPath(resolved.real)}, which is outside the workspace ${showPath(context.workspace)} and was not allowed; nothing was done`,
  );
}

/** Show a resolved path as the model would spell it: relative to the workspace where it is below it. */
export function showInWorkspace(real: string, { workspace }: ToolContext): string {
  if (real === workspace) return ".";
  return showPath(isBelow(real, workspace) ? real.slice(workspace.length).replace(/^\//, "") : real);
}
