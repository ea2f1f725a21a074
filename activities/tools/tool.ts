import type { z } from "zod";
import type { ToolName } from "../../core/tools.ts";
import type { TraceContext } from "../../core/trace-context.ts";

/** What a tool knows of the run that it works for. */
export interface ToolContext {
  /** Real path of the workspace. Relative paths are relative to it. */
  workspace: string;
  /** Real path of the session's scratch folder; it counts as inside. */
  scratch: string;
  /** Folder for full outputs that were too long for the model; exists. */
  outputs: string;
  /** Folder of the session's ledger of file versions; exists. */
  ledger: string;
  /** Who works, as other delegates are told: `main agent`, `task-3 (fixer)`. */
  actor: string;
  /** Value of the environment variable SUBAGENTS_RUN in every process that a tool starts. */
  runMarker: string;
  /** Upper bound for a command's own timeout, in seconds. */
  maxSeconds: number;
  /** The tool call's id. */
  callId: string;
  /** Resolved paths outside of workspace and scratch folder that were allowed for this call; none if absent. */
  allowedOutside?: readonly string[];
  /** Throws if the run has another owner by now; asked before anything is written. */
  assertOwner?: () => Promise<void>;
  /** What processes that the call starts belong under, where the run is traced. */
  trace?: TraceContext | undefined;
}

/** What a tool answers. A tool's failure is an answer with `isError`, never a throw; text is well formed and bounded. */
export interface ToolResult {
  text: string;
  isError: boolean;
}

/** One tool: input schema, the text that the model reads about it, and what it does. */
export interface Tool<Schema extends z.ZodType = z.ZodType> {
  name: ToolName;
  /** For the model: what it does, its bounds, when to use it. */
  description: string;
  input: Schema;
  /**
   * Do the work within bounded time, memory and output.
   *
   * Contract: never throws for bad input or a failed operation; obeys `signal` at once, leaving no process behind.
   */
  execute(input: z.infer<Schema>, context: ToolContext, signal: AbortSignal): Promise<ToolResult>;
  /** What the call is about, for a person: a path, a pattern, a command. */
  toTarget(input: z.infer<Schema>): string;
}
