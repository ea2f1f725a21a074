import { realpathSync, statSync } from "node:fs";
import type { ThinkingLevel } from "../../core/definition.ts";
import {
  IDLE_TIMEOUT_SECONDS,
  MAX_DURATION_SECONDS,
  MAX_OVERRIDE_SECONDS,
  MIN_OVERRIDE_SECONDS,
  TASK_WAIT_DEFAULT_SECONDS,
  TURN_MAX_DURATION_SECONDS,
} from "../../core/limits.ts";
import type { PermissionMode } from "../../core/permissions.ts";
import type { SessionInput } from "../../core/session.ts";
import { CliError } from "./cli-error.ts";
import { type ModelFlags, parseModelAliases, toModelSource } from "./model-flags.ts";
import type { QuestionChoice } from "./questions.ts";

/** Flags that say where definitions are looked for. */
export interface DefinitionFlags {
  workspace: string;
  agents: string[];
  projectAgents: boolean;
  modelAlias: string[];
}

/** Flags from which a session's input is made. */
export interface SessionFlags extends ModelFlags, DefinitionFlags {
  permission: PermissionMode;
  plan: boolean;
  leftovers: "abort" | "deliver";
  watchdog: "enforce" | "report";
  thinking?: ThinkingLevel;
  questions?: QuestionChoice;
}

/**
 * Make a session's input of the flags and the environment: all of it is captured, so that `send` needs none of them later.
 *
 * @throws CliError that names the flag or variable and the value seen.
 */
export function toSessionInput(
  flags: SessionFlags,
  environment: NodeJS.ProcessEnv,
): Omit<SessionInput, "hasSearchAttributes"> {
  return {
    workspace: toFolder(flags.workspace, "--workspace"),
    model: toModelSource(flags, environment),
    ...(flags.thinking === undefined ? {} : { thinkingLevel: flags.thinking }),
    permissionMode: flags.permission,
    ...(flags.plan ? { contract: "plan" as const } : {}),
    canAsk: flags.questions === "wait",
    leftovers: flags.leftovers,
    watchdog: flags.watchdog,
    agentDirectories: flags.agents.map((folder) => toFolder(folder, "--agents")),
    projectAgents: flags.projectAgents,
    modelAliases: parseModelAliases(flags.modelAlias),
    limits: readLimits(environment),
  };
}

/** Read a session's limits from the environment. @throws CliError Configuration.Invalid. */
export function readLimits(environment: NodeJS.ProcessEnv): SessionInput["limits"] {
  return {
    idleSeconds: readSeconds("SUBAGENTS_IDLE_TIMEOUT_SECONDS", IDLE_TIMEOUT_SECONDS, environment),
    maxDurationSeconds: readSeconds("SUBAGENTS_MAX_DURATION_SECONDS", MAX_DURATION_SECONDS, environment),
    turnMaxDurationSeconds: TURN_MAX_DURATION_SECONDS,
  };
}

/** What a person should know of an input that is valid all the same. */
export function listWarnings(input: Pick<SessionInput, "limits">): string[] {
  const { idleSeconds } = input.limits;
  if (idleSeconds < TASK_WAIT_DEFAULT_SECONDS) return [];
  return [
    `SUBAGENTS_IDLE_TIMEOUT_SECONDS is ${idleSeconds}: a delegate that hangs is noticed only after a TaskWait of ${TASK_WAIT_DEFAULT_SECONDS} s has run out`,
  ];
}

/** Find the real path of a folder that must exist. @throws CliError Usage.Folder. */
export function toFolder(folder: string, flag: string): string {
  let problem = "is no folder";
  try {
    const real = realpathSync(folder);
    if (statSync(real).isDirectory()) return real;
  } catch {
    problem = "does not exist";
  }
  throw new CliError("Usage.Folder", `${flag} is ${JSON.stringify(folder)}, which ${problem}`);
}

function readSeconds(variable: string, usual: number, environment: NodeJS.ProcessEnv): number {
  const text = environment[variable];
  if (text === undefined || text === "") return usual;
  const seconds = Number(text);
  if (/^\d+$/.test(text) && seconds >= MIN_OVERRIDE_SECONDS && seconds <= MAX_OVERRIDE_SECONDS)
    return seconds;
  throw new CliError(
    "Configuration.Invalid",
    `${variable} is ${JSON.stringify(text)}: write whole seconds from ${MIN_OVERRIDE_SECONDS} to ${MAX_OVERRIDE_SECONDS}`,
  );
}
