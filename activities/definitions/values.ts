import { z } from "zod";
import { type ThinkingLevel, thinkingLevelSchema } from "../../core/definition.ts";
import { MAX_OVERRIDE_SECONDS, MIN_OVERRIDE_SECONDS, TASK_WAIT_DEFAULT_SECONDS } from "../../core/limits.ts";
import { type PermissionScope, permissionScopes } from "../../core/permissions.ts";
import { describeValue, type Entry } from "./entries.ts";
import { normalizeKey } from "./keys.ts";
import { type Finding, quote, refusal, warning } from "./problem.ts";

/** A value that was read, or undefined where it is refused or absent; the findings say which. */
export interface Reading<Value> {
  value: Value | undefined;
  findings: Finding[];
}

/** More turns than any run has: a ceiling for slips of the hand, not for work. */
const MAX_TURNS = 10_000;
const MAX_PIN_CHARACTERS = 200;

const wholeNumberSchema = z
  .union([
    z.number(),
    z
      .string()
      .trim()
      .regex(/^[+-]?\d+$/u)
      .transform(Number),
  ])
  .refine((value) => Number.isInteger(value));
const noneSchema = z
  .string()
  .trim()
  .toLowerCase()
  .pipe(z.literal("none"))
  .transform(() => 0);
const pinSchema = z
  .string()
  .trim()
  .min(1)
  .max(MAX_PIN_CHARACTERS)
  .refine((pin) => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(pin));
const wordSchema = z.string().trim().min(1);

/** Words of Claude Code's `permissionMode`, compared like keys. */
const foreignModes: Readonly<Record<string, PermissionScope>> = {
  acceptedits: "accept-edits",
  default: "inherit",
  bypasspermissions: "inherit",
  dontask: "inherit",
};

/** Read `maxTurns`: undefined without a finding means none. */
export function readMaxTurns(entry: Entry): Reading<number> {
  const parsed = z.union([noneSchema, wholeNumberSchema]).safeParse(entry.value);
  if (!parsed.success)
    return refuse(entry, "is not a whole number", `a whole number up to ${MAX_TURNS}, or none`);
  return parsed.data === 0 ? { value: undefined, findings: [] } : clamp(entry, parsed.data, 1, MAX_TURNS);
}

/** Read a time in whole seconds. */
export function readSeconds(entry: Entry): Reading<number> {
  const parsed = wholeNumberSchema.safeParse(entry.value);
  const bounds = `whole seconds from ${MIN_OVERRIDE_SECONDS} to ${MAX_OVERRIDE_SECONDS}`;
  if (!parsed.success) return refuse(entry, "is not a whole number of seconds", bounds);
  return clamp(entry, parsed.data, MIN_OVERRIDE_SECONDS, MAX_OVERRIDE_SECONDS);
}

/** Read `idleTimeoutSeconds`: a window as long as TaskWait's default lets a hang outlast a wait. */
export function readIdleSeconds(entry: Entry): Reading<number> {
  const reading = readSeconds(entry);
  if (reading.value === undefined || reading.value < TASK_WAIT_DEFAULT_SECONDS) return reading;
  const message = `a delegate that hangs is noticed after ${reading.value} s, later than a TaskWait lasts by default`;
  const long = warning(entry.line, entry.key, message, `less than ${TASK_WAIT_DEFAULT_SECONDS}`);
  return { value: reading.value, findings: [...reading.findings, long] };
}

/** Read `permission`: an unknown word is refused. */
export function readPermission(entry: Entry): Reading<PermissionScope> {
  const word = wordSchema.safeParse(entry.value);
  const scope = permissionScopes.find((known) => normalizeKey(known) === normalizeKey(word.data ?? ""));
  if (scope !== undefined) return { value: scope, findings: [] };
  return refuse(entry, "is no permission scope", permissionScopes.join(", "));
}

/** Read Claude Code's `permissionMode` as the scope that grants no more. */
export function readPermissionMode(entry: Entry): Reading<PermissionScope> {
  const word = normalizeKey(wordSchema.safeParse(entry.value).data ?? "");
  const scope = Object.hasOwn(foreignModes, word) ? foreignModes[word] : undefined;
  if (scope === undefined) {
    return refuse(entry, "has no counterpart here", `permission: with one of ${permissionScopes.join(", ")}`);
  }
  const isNarrowed = word === "bypasspermissions" || word === "dontask";
  const message = `${quote(entry.text ?? "")} is read as inherit: no definition can do without the session's rules`;
  const narrowed = warning(entry.line, entry.key, message, "permission: auto, if that is wanted");
  return { value: scope, findings: isNarrowed ? [narrowed] : [] };
}

/** Read `model`: the pin as written, undefined without a finding for `inherit`. */
export function readModelPin(entry: Entry): Reading<string> {
  const pin = pinSchema.safeParse(entry.value);
  if (!pin.success) return refuse(entry, "names no model", "<provider>/<model>, or inherit");
  return { value: pin.data.toLowerCase() === "inherit" ? undefined : pin.data, findings: [] };
}

/** Read `thinkingLevel`: it limits and grants nothing, so an odd one is ignored with a warning. */
export function readThinkingLevel(entry: Entry): Reading<ThinkingLevel> {
  const level = thinkingLevelSchema.safeParse((entry.text ?? "").trim().toLowerCase());
  if (level.success) return { value: level.data, findings: [] };
  const message = `${describeValue(entry)}, no thinking level, and is ignored`;
  const instead = thinkingLevelSchema.options.join(", ");
  return { value: undefined, findings: [warning(entry.line, entry.key, message, instead)] };
}

function clamp(entry: Entry, value: number, least: number, most: number): Reading<number> {
  const clamped = Math.min(most, Math.max(least, value));
  if (clamped === value) return { value, findings: [] };
  const message = `${value} is outside of ${least} to ${most} and is read as ${clamped}`;
  return { value: clamped, findings: [warning(entry.line, entry.key, message, String(clamped))] };
}

function refuse<Value>(entry: Entry, fault: string, instead: string): Reading<Value> {
  const message = `${describeValue(entry)}, which ${fault}`;
  return { value: undefined, findings: [refusal(entry.line, entry.key, message, instead)] };
}
