/** Environment variables that say for whom a process works. Every process that a tool starts inherits them. */
export interface ProcessMarks {
  /** SUBAGENTS_RUN: the agent run. */
  run: string | undefined;
  /** SUBAGENTS_CALL: the tool call. */
  call: string | undefined;
  /** SUBAGENTS_COMMAND: the one command; unique even where a model repeats a call's id. */
  command: string | undefined;
}

export const noMarks: ProcessMarks = { run: undefined, call: undefined, command: undefined };

/** Find the marks in an environment as the kernel keeps it: `name=value`, each ended by a NUL. */
export function toMarks(environment: Buffer): ProcessMarks {
  // Most processes of a machine have no mark: one search answers for them.
  if (!environment.includes("SUBAGENTS_")) return noMarks;
  const variables = new Map<string, string>();
  for (const entry of environment.toString("utf8").split("\0")) {
    const [name = ""] = entry.split("=", 1);
    if (name.startsWith("SUBAGENTS_") && !variables.has(name)) {
      variables.set(name, entry.slice(name.length + 1));
    }
  }
  return {
    run: variables.get("SUBAGENTS_RUN"),
    call: variables.get("SUBAGENTS_CALL"),
    command: variables.get("SUBAGENTS_COMMAND"),
  };
}
