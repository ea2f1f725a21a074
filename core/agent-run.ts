import { z } from "zod";
import { definitionSchema, modelSourceSchema, thinkingLevelSchema } from "./definition.ts";
import { permissionModeSchema, permissionScopes } from "./permissions.ts";
import { runErrorSchema, usageSchema } from "./status.ts";
import { toolNames } from "./tools.ts";
import { traceFieldSchema } from "./trace-context.ts";

/** What one `runAgent` activity is asked to do: a turn of the main agent or the whole work of a delegate. */
export const agentRunInputSchema = z.object({
  role: z.enum(["main", "delegate"]),
  /** Workflow id of the session. */
  sessionId: z.string(),
  /** Name of the run's journal within the session: `main` or the delegation's id. */
  chain: z.string(),
  /** Names this run within the session, so that a repeated activity finds what it has done: `turn-3`, `turn-3.2`, `task-5`. */
  runId: z.string(),
  /** The definition's name, or `main`. */
  agent: z.string(),
  /** Number of the session's turn, from 1; for a delegate the turn that started it, 0 outside of one. */
  turn: z.number().int(),
  /** The user's message or the task. */
  prompt: z.string(),
  /** Another chain of this session whose transcript this run continues. */
  resumeFrom: z.string().optional(),
  /** Whether earlier turns of this chain have been heard: their transcript must be there, or the agent would have forgotten them unawares. */
  hasTranscript: z.boolean().optional(),
  /** Absolute path on the worker's host. */
  workspace: z.string(),
  model: modelSourceSchema,
  thinkingLevel: thinkingLevelSchema.optional(),
  /** The definition's prompt; absent for the main agent. */
  instructions: z.object({ sha256: z.string(), file: z.string() }).optional(),
  tools: z.array(z.enum(toolNames)),
  /** Delegates that the main agent may start; empty for a delegate. */
  catalogue: z.array(definitionSchema.pick({ name: true, description: true, tools: true })),
  permission: z.object({
    mode: permissionModeSchema,
    scope: z.enum(permissionScopes),
    contract: z.literal("plan").optional(),
    /** Whether somebody can answer a question; if not, an `ask` is denied at once. */
    canAsk: z.boolean(),
  }),
  limits: z.object({
    idleSeconds: z.number(),
    maxDurationSeconds: z.number(),
    maxTurns: z.number().optional(),
  }),
  /** `report`: silence is shown and never ends a run. */
  watchdog: z.enum(["enforce", "report"]),
  /** What the run's spans belong under: the message's sender, or the call that delegated. */
  trace: traceFieldSchema,
});
export type AgentRunInput = z.infer<typeof agentRunInputSchema>;

export const denialSchema = z.object({ tool: z.string(), target: z.string(), reason: z.string() });
/** A tool call that was not allowed. */
export type Denial = z.infer<typeof denialSchema>;

/** What every ending of a run keeps, whatever it is called: as the run's outcome, in its settlement, in the session's record. */
export const runResultSchema = z.object({
  /** The report of a completed or truncated run, else the last assistant text seen so far; a delegate's at most 12,000 characters. */
  report: z.string(),
  error: runErrorSchema.optional(),
  turns: z.number(),
  toolCalls: z.number(),
  usage: usageSchema,
  attempts: z.number(),
  denials: z.array(denialSchema),
  /** The model that answered, `<provider>/<id>`. */
  model: z.string(),
});

/** How a run ended, as a value: an agent's bad day is not an exception. `cancelled` becomes stopped or aborted by its cause. */
export const agentRunOutcomeSchema = runResultSchema.extend({
  status: z.enum(["completed", "truncated", "timed_out", "failed", "cancelled"]),
});
export type AgentRunOutcome = z.infer<typeof agentRunOutcomeSchema>;

export const runPhases = ["setting-up", "model", "backoff", "tool", "question", "saving"] as const;
export type RunPhase = (typeof runPhases)[number];

/**
 * Heartbeat details: the live view and the resume point, never the transcript. Times are milliseconds since the epoch by the
 * worker's clock. Temporal Web shows them in the order in which the run gives them.
 */
export const agentRunDetailsSchema = z.object({
  /** For people: what the run does, in words that stay true until the next event, and when its last event came. Absent from older workers. */
  doing: z.string().optional(),
  lastEventAt: z.string().optional(),
  attempt: z.number(),
  phase: z.enum(runPhases),
  turns: z.number(),
  toolCalls: z.number(),
  /** The tool that has been running longest. */
  tool: z.object({ name: z.string(), target: z.string(), sinceMs: z.number() }).optional(),
  startedAtMs: z.number(),
  lastEventAtMs: z.number(),
  /** When this was told. */
  toldAtMs: z.number().optional(),
  /** While the provider is being waited for: which try comes next, and when. */
  backoff: z.object({ nextTry: z.number(), untilMs: z.number() }).optional(),
  usage: usageSchema,
  /** At most 12,000 characters. */
  partialReport: z.string(),
  denials: z.array(denialSchema),
  /** Lines of the journal that are on disk. */
  journalLines: z.number(),
  /** Workers lost since a turn was last finished, this attempt not counted. */
  losses: z.number(),
  /** Turns finished when this attempt began. */
  turnsAtStart: z.number(),
  /** Set by a worker that hands its run back on purpose: such an end is no loss. */
  handedBack: z.boolean(),
  /** Process id and host of the worker. */
  worker: z.string(),
});
export type AgentRunDetails = z.infer<typeof agentRunDetailsSchema>;
