import { z } from "zod";
import { type AgentRunOutcome, agentRunInputSchema } from "./agent-run.ts";
import { definitionSchema, modelSourceSchema, thinkingLevelSchema } from "./definition.ts";
import { delegationSchema, stopCauses } from "./delegation.ts";
import { allowanceSchema, permissionQuestionSchema } from "./permission-questions.ts";
import { type PermissionMode, permissionModeSchema, permissionModes } from "./permissions.ts";
import { runErrorSchema, usageSchema } from "./status.ts";

/** Seconds; a definition's and an environment's bounds are narrower. A week is far below what a timer can count. */
const limit = z.number().min(1).max(604_800);

/** What a session is started with. Everything that may change later without touching a running session is captured here. */
export const sessionInputSchema = z.object({
  /** Absolute path on the worker's host. */
  workspace: z.string(),
  model: modelSourceSchema,
  thinkingLevel: thinkingLevelSchema.optional(),
  permissionMode: permissionModeSchema,
  contract: z.literal("plan").optional(),
  /** Whether somebody can answer permission questions. */
  canAsk: z.boolean(),
  /** What becomes of delegates that still run when the main agent ends its turn. */
  leftovers: z.enum(["abort", "deliver"]),
  watchdog: z.enum(["enforce", "report"]),
  agentDirectories: z.array(z.string()),
  projectAgents: z.boolean(),
  modelAliases: z.record(z.string(), z.string()),
  /** Defaults of every run of this session, in seconds. */
  limits: z.object({
    idleSeconds: limit,
    maxDurationSeconds: limit,
    turnMaxDurationSeconds: limit,
  }),
  /** Whether the namespace knows our search attributes; using an unknown one would fail workflow tasks for ever. */
  hasSearchAttributes: z.boolean(),
  /** History events after which the session continues as new even if the server does not suggest it yet. */
  continueAsNewAfterEvents: z.number().optional(),
});
export type SessionInput = z.infer<typeof sessionInputSchema>;

export const turnStatuses = ["running", "completed", "failed", "timed_out", "aborted"] as const;

export const turnSchema = z.object({
  number: z.number(),
  prompt: z.string(),
  status: z.enum(turnStatuses),
  startedAtMs: z.number(),
  endedAtMs: z.number().optional(),
  /** The main agent's last message, at most 100,000 characters; of earlier turns only the beginning is kept. */
  answer: z.string(),
  error: runErrorSchema.optional(),
  turns: z.number(),
  toolCalls: z.number(),
  usage: usageSchema,
  attempts: z.number(),
});
/** One user message and all that the main agent did until its end. */
export type Turn = z.infer<typeof turnSchema>;

/** How a turn ends by the way its main agent's run did. */
export function toTurnStatus(status: AgentRunOutcome["status"]): Turn["status"] {
  switch (status) {
    case "cancelled":
      return "aborted";
    // A main agent has no turn backstop; an answer that the provider cut is an answer that is not whole.
    case "truncated":
      return "failed";
    case "completed":
    case "timed_out":
    case "failed":
      return status;
  }
}

/** What a session carries from run to run as it continues as new: JSON, below 512 KiB. */
export const sessionStateSchema = z.object({
  delegations: z.array(delegationSchema),
  /** Number of the last delegation. */
  lastDelegation: z.number(),
  turns: z.array(turnSchema),
  lastTurn: z.number(),
  /** Whether the main agent was ever heard; turns that could tell may no longer be kept. */
  hasTranscript: z.boolean().optional(),
  permissionMode: z.enum(permissionModes),
  catalogue: z.array(definitionSchema),
  /** Open questions and the latest answered ones. */
  questions: z.array(permissionQuestionSchema),
  lastQuestion: z.number(),
  allowances: z.array(allowanceSchema),
  /** Keys of the latest messages and the turns that they began. */
  sent: z.array(z.object({ key: z.string(), turn: z.number() })),
});
export type SessionState = z.infer<typeof sessionStateSchema>;

/** What a session begins with. */
export function toInitialState(permissionMode: PermissionMode): SessionState {
  return {
    delegations: [],
    lastDelegation: 0,
    turns: [],
    lastTurn: 0,
    permissionMode,
    catalogue: [],
    questions: [],
    lastQuestion: 0,
    allowances: [],
    sent: [],
  };
}

/** What a delegate's workflow is started with. */
export const delegateInputSchema = z.object({
  delegationId: z.string(),
  run: agentRunInputSchema,
  hasSearchAttributes: z.boolean(),
});
export type DelegateInput = z.infer<typeof delegateInputSchema>;

export const stopRequestSchema = z.object({
  cause: z.enum(stopCauses),
  /** The child's result does not reach the session that asks: it has to be told by a signal. */
  hasToTell: z.boolean().optional(),
});
export type StopRequest = z.infer<typeof stopRequestSchema>;
