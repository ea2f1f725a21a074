import { nearestName } from "../../core/names.ts";

/** The keys that a definition may hold, by the form in which keys are compared. */
const ownKeys = {
  name: "name",
  description: "description",
  tools: "tools",
  disallowedtools: "disallowedTools",
  model: "model",
  thinkinglevel: "thinkingLevel",
  thinking: "thinkingLevel",
  permission: "permission",
  permissionmode: "permissionMode",
  maxturns: "maxTurns",
  idletimeoutseconds: "idleTimeoutSeconds",
  maxdurationseconds: "maxDurationSeconds",
} as const;
export type OwnKey = (typeof ownKeys)[keyof typeof ownKeys];

/** Keys of other hosts that neither limit nor grant anything here. */
const quietKeys = new Set([
  "async",
  "background",
  "color",
  "completionguard",
  "defaultcontext",
  "defaultprogress",
  "defaultreads",
  "extensions",
  "fallbackmodels",
  "hooks",
  "inheritprojectcontext",
  "inheritskills",
  "initialprompt",
  "interactive",
  "license",
  "maxsubagentdepth",
  "mcpservers",
  "memory",
  "metadata",
  "output",
  "skill",
  "skills",
  "systempromptmode",
  "version",
]);

/** Keys of other hosts that limit an agent there and do nothing here, each with what to write instead. */
const limitingKeys: Readonly<Record<string, string>> = {
  allowedtools: "tools: with the names that it may use",
  deniedtools: "disallowedTools:",
  denytools: "disallowedTools:",
  excludedtools: "disallowedTools:",
  excludetools: "disallowedTools:",
  idletimeout: "idleTimeoutSeconds: with whole seconds",
  isolation: "nothing: a delegate works in the session's own workspace",
  maxcost: "maxTurns: or maxDurationSeconds:",
  maxbudgetusd: "maxTurns: or maxDurationSeconds:",
  maxduration: "maxDurationSeconds: with whole seconds",
  maxexecutiontimems: "maxDurationSeconds: with whole seconds",
  maxsteps: "maxTurns:",
  maxtokens: "maxTurns:",
  readonly: "tools: without Edit, Write and Bash",
  sandbox: "nothing: leave Bash out of tools: where a delegate must not write",
  steps: "maxTurns:",
  timeout: "maxDurationSeconds: with whole seconds",
  timeoutms: "maxDurationSeconds: with whole seconds",
  toolbudget: "maxTurns:",
  tooltimeoutms: "maxDurationSeconds:, or a timeout in each Bash call",
  turnbudget: "maxTurns:",
};

export type KeyMeaning =
  | { kind: "own"; key: OwnKey }
  | { kind: "quiet" }
  | { kind: "limiting"; instead: string }
  | { kind: "unknown"; nearest: string | undefined };

/** Bring a key into the form in which keys are compared: `max-turns`, `max_turns` and `maxTurns` are one. */
export function normalizeKey(key: string): string {
  return key.toLowerCase().replace(/[\s_-]+/gu, "");
}

export function readKey(written: string): KeyMeaning {
  const key = normalizeKey(written);
  if (Object.hasOwn(ownKeys, key)) return { kind: "own", key: ownKeys[key as keyof typeof ownKeys] };
  if (quietKeys.has(key)) return { kind: "quiet" };
  if (Object.hasOwn(limitingKeys, key)) return { kind: "limiting", instead: limitingKeys[key] ?? "" };
  if (key === "effort") return { kind: "limiting", instead: "thinkingLevel:" };
  const nearest = nearestName(key, Object.keys(ownKeys));
  return {
    kind: "unknown",
    nearest: nearest === undefined ? undefined : ownKeys[nearest as keyof typeof ownKeys],
  };
}
