import { z } from "zod";
import type { ToolName } from "./tools.ts";

export const permissionModes = ["ask", "accept-edits", "auto"] as const;
export const permissionModeSchema = z.enum(permissionModes);
/** How a session treats calls that can change something. */
export type PermissionMode = z.infer<typeof permissionModeSchema>;

export const permissionScopes = ["inherit", ...permissionModes] as const;
/** What a definition declares for its own calls; `inherit` carries no override. */
export type PermissionScope = (typeof permissionScopes)[number];

export type Decision =
  | { verdict: "allow" }
  | { verdict: "ask"; reason: string }
  | { verdict: "deny"; reason: string };

export interface PermissionQuestion {
  /** The session's mode at the moment of the call. */
  mode: PermissionMode;
  /** The definition's scope; `inherit` for the main agent. */
  scope: PermissionScope;
  /** A contract mode such as `plan` denies every call that can change something. */
  contract: "plan" | undefined;
  tool: ToolName;
  /** Whether the call's path lies in the workspace or the session's scratch folder; undefined for a tool without a path. */
  inside: boolean | undefined;
}

/**
 * Decide one tool call. Pure and total; the only place where a permission is decided.
 *
 * Contract modes come first, then the external-path gate (always the session's own mode), then the table: a scope other than
 * `inherit` replaces the session's mode for calls inside, except that `accept-edits` leaves Bash to the session.
 */
export function decidePermission({ mode, scope, contract, tool, inside }: PermissionQuestion): Decision {
  const changes = tool === "Write" || tool === "Edit" || tool === "Bash";
  if (contract === "plan" && changes) {
    return { verdict: "deny", reason: `plan mode allows nothing that can change something; ${tool} can` };
  }
  if (tool === "Bash") {
    const effective = scope === "inherit" || scope === "accept-edits" ? mode : scope;
    return effective === "auto"
      ? { verdict: "allow" }
      : { verdict: "ask", reason: `Bash needs an answer in mode ${effective}` };
  }
  if (inside === false) {
    return mode === "auto"
      ? { verdict: "allow" }
      : {
          verdict: "ask",
          reason: `the path is outside the workspace, which needs an answer in mode ${mode}`,
        };
  }
  if (!changes) return { verdict: "allow" };
  const effective = scope === "inherit" ? mode : scope;
  return effective === "ask"
    ? { verdict: "ask", reason: `${tool} needs an answer in mode ask` }
    : { verdict: "allow" };
}
