import { z } from "zod";
import { decidePermission, type PermissionMode, permissionScopes } from "./permissions.ts";
import { toolNames } from "./tools.ts";

/** What an agent run asks its session when a call needs an answer. The same key is the same question, also from a resumed attempt. */
export const permissionRequestSchema = z.object({
  /** Stable over attempts: run, turn and tool call. */
  key: z.string(),
  /** The delegation's id, or `main`. */
  chain: z.string(),
  agent: z.string(),
  tool: z.enum(toolNames),
  /** The resolved path, or the command; at most 2,000 characters. */
  target: z.string(),
  /** The call's arguments as JSON, at most 4,000 characters, for the person who answers. */
  arguments: z.string(),
  scope: z.enum(permissionScopes),
  contract: z.literal("plan").optional(),
  inside: z.boolean().optional(),
  reason: z.string(),
});
export type PermissionRequest = z.infer<typeof permissionRequestSchema>;

export const questionStates = ["open", "allowed", "denied", "withdrawn"] as const;

export const permissionQuestionSchema = permissionRequestSchema.extend({
  /** What a person names it by: `q-<n>`. */
  id: z.string(),
  state: z.enum(questionStates),
  askedAtMs: z.number(),
  answeredAtMs: z.number().optional(),
  /** Who or what answered: a person as the host names them, or `mode auto`. */
  by: z.string().optional(),
  /** Why it was denied. */
  answer: z.string().optional(),
});
/** A question of an agent to a person, and its answer once there is one. */
export type PermissionQuestionRecord = z.infer<typeof permissionQuestionSchema>;

/** A grant for the rest of the session: the same tool with the same command or path, whoever calls it. */
export const allowanceSchema = z.object({ tool: z.enum(toolNames), target: z.string(), by: z.string() });
export type Allowance = z.infer<typeof allowanceSchema>;

export const permissionAnswerSchema = z.object({
  questionId: z.string(),
  verdict: z.enum(["allow", "deny"]),
  /** For a denial: what the agent is told. At most 2,000 characters. */
  reason: z.string().max(2000).optional(),
  /** Allow the same call for the rest of the session. */
  forSession: z.boolean().optional(),
  /** Who answers, for the record. */
  by: z.string().min(1).max(200),
});
export type PermissionAnswer = z.infer<typeof permissionAnswerSchema>;

/** Whether a question needs no person: it was allowed for the session, or the present mode allows it. Undefined: it does. */
export function answerWithoutPerson(
  request: PermissionRequest,
  mode: PermissionMode,
  allowances: readonly Allowance[],
): { state: "allowed"; by: string } | undefined {
  const { scope, contract, tool, inside } = request;
  const decision = decidePermission({ mode, scope, contract, tool, inside });
  if (decision.verdict === "allow") return { state: "allowed", by: `mode ${mode}` };
  if (decision.verdict === "deny") return undefined;
  const granted = allowances.find(
    (allowance) => allowance.tool === tool && allowance.target === request.target,
  );
  return granted === undefined ? undefined : { state: "allowed", by: `${granted.by}, for the session` };
}
