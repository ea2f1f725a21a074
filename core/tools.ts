/** The tools that a definition may list. PascalCase names are what the model sees. */
export const toolNames = ["Read", "Glob", "Grep", "Edit", "Write", "Bash"] as const;
export type ToolName = (typeof toolNames)[number];

/** The tools of the main agent alone: delegates cannot delegate. */
export const delegationToolNames = ["Task", "TaskWait", "TaskList", "TaskStop"] as const;
export type DelegationToolName = (typeof delegationToolNames)[number];

/** Tools that may leave something changed: an unfinished call of theirs is never run again. */
export const toolsWithEffects: ReadonlySet<string> = new Set<ToolName>(["Edit", "Write", "Bash"]);
