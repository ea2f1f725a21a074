import { z } from "zod";
import {
  MAX_DESCRIPTION_CHARACTERS,
  MAX_TASK_CHARACTERS,
  TASK_WAIT_DEFAULT_SECONDS,
  TASK_WAIT_MAX_SECONDS,
  TASK_WAIT_MIN_SECONDS,
} from "./limits.ts";
import { cutAt } from "./text.ts";

/** A number as models write it: a JSON number, or text that reads as one. NaN, infinities and other types are refused. */
const looseNumber = z.preprocess(
  (value) => (typeof value === "string" && value.trim() !== "" ? Number(value) : value),
  z.number({ error: "must be a number" }),
);

/** More than a session keeps; an answer repeats what it was asked. */
const MAX_IDS = 200;
const MAX_ID_CHARACTERS = 200;

const delegationIds = z
  .preprocess(
    (value) => (typeof value === "string" ? [value] : value),
    z
      .array(
        z.string().max(MAX_ID_CHARACTERS, {
          error: `is longer than any id: at most ${MAX_ID_CHARACTERS} characters`,
        }),
        {
          error: "must be a list of delegation ids",
        },
      )
      .max(MAX_IDS, { error: `must not name more than ${MAX_IDS} ids` })
      .nullish(),
  )
  .describe("Ids as Task returned them.");

/** Input of Task, as the model sees it. */
export const taskInputSchema = z.object({
  agent: z.string().nullish().describe("Name of the delegate's definition. May be left out with resume."),
  task: z
    .string({ error: "must be a text" })
    .refine((task) => task.trim() !== "", {
      error: "must not be empty: say what is to be done and what to report",
    })
    .refine((task) => task.length <= MAX_TASK_CHARACTERS, {
      error: `must not be longer than ${MAX_TASK_CHARACTERS} characters: put long material into a file and name it`,
    })
    .describe("The whole assignment. The delegate sees nothing else of this conversation."),
  description: z
    .string()
    .transform((text) => cutAt(text, MAX_DESCRIPTION_CHARACTERS))
    .nullish()
    .describe("What it is for, in a few words, for the user."),
  resume: z.string().nullish().describe("Id of a settled delegation whose conversation is continued."),
});
export type TaskInput = z.infer<typeof taskInputSchema>;

/** Input of TaskWait, as the model sees it. */
export const taskWaitInputSchema = z.object({
  delegationIds: delegationIds.describe(
    "Which to wait for. Left out: all running ones and every settled one whose report was not handed over yet.",
  ),
  mode: z.enum(["all", "any"], { error: 'must be "all" or "any"' }).nullish(),
  minCompleted: looseNumber
    .nullish()
    .describe('With mode "any": return when so many have settled. Default 1.'),
  timeoutSeconds: looseNumber
    .nullish()
    .describe(
      `Seconds to wait, ${TASK_WAIT_MIN_SECONDS} to ${TASK_WAIT_MAX_SECONDS}; default ${TASK_WAIT_DEFAULT_SECONDS}. Running out is no failure.`,
    ),
});
export type TaskWaitInput = z.infer<typeof taskWaitInputSchema>;

/** Input of TaskStop, as the model sees it. */
export const taskStopInputSchema = z.object({
  delegationIds: delegationIds.describe("Which to stop. Left out: all running ones."),
});
export type TaskStopInput = z.infer<typeof taskStopInputSchema>;

/** Bring a wait's length into its bounds. */
export function clampWaitSeconds(seconds: number | null | undefined): number {
  if (seconds === null || seconds === undefined) return TASK_WAIT_DEFAULT_SECONDS;
  return Math.min(TASK_WAIT_MAX_SECONDS, Math.max(TASK_WAIT_MIN_SECONDS, seconds));
}

/** How many of `targets` must have settled before a wait returns. */
export function toNeeded(input: TaskWaitInput, targets: number): number {
  if (input.mode !== "any") return targets;
  return Math.min(targets, Math.max(1, Math.ceil(input.minCompleted ?? 1)));
}

/** Say what is wrong with a tool input, one clause a problem, the first few: `timeoutSeconds: must be a number`. */
export function describeProblems(error: z.ZodError): string {
  const clauses = error.issues
    .slice(0, 5)
    .map((issue) => `${issue.path.join(".") || "input"}: ${issue.message}`);
  return cutAt(clauses.join("; "), 1000);
}
