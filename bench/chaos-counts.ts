import type { JournalEntry } from "../activities/journal/journal-entry.ts";
import type { SessionHandle } from "../client/session-client.ts";
import type { Delegation } from "../core/delegation.ts";
import type { Turn } from "../core/session.ts";
import type { CrashSite } from "../test/support/crash-site.ts";

/** What is left when the dust has settled. */
export interface ChaosCounts {
  kills: number;
  seconds: number;
  /** Attempts of all delegates together, and of the turn. */
  attempts: number;
  turnAttempts: number;
  turns: number;
  completed: number;
  workerLost: number;
  otherEndings: number;
  /** Reports that reached the main agent whole. */
  reports: number;
  /** Commands that a transcript asks for, and lines in the files. */
  commands: number;
  lines: number;
  /** Commands answered "may have run": those whose line is there, and those whose line is not. */
  mayHaveRunAndDid: number;
  mayHaveRunAndDidNot: number;
  /** From a worker's start to the first run that was taken up again. */
  medianResumeMs: number;
  slowestResumeMs: number;
  /** Must be empty. */
  violations: string[];
}

interface Remains {
  site: CrashSite;
  session: SessionHandle;
  turn: Turn;
  kills: number;
  resumedMs: number[];
  seconds: number;
}

/** Name of a command and of the line that it writes. */
export function toLineId(name: string, turn: number, number: number): string {
  return `${name}-${turn}-${number}`;
}

export async function countUp({
  site,
  session,
  turn,
  kills,
  resumedMs,
  seconds,
}: Remains): Promise<ChaosCounts> {
  const { delegations } = await session.view();
  const works = await Promise.all(delegations.map(({ id }) => lookAtWork(site, session, id)));
  const violations = [
    ...works.flatMap((work) => work.violations),
    ...site.violations.map((violation) => `the provider refused a transcript: ${violation}`),
    ...(await site.processesOf(session)).map((pid) => `process ${pid} is left running`),
  ];
  if (turn.status !== "completed")
    violations.push(`the turn is ${turn.status}: ${turn.error?.message ?? ""}`);
  if (turn.answer !== "all reports are in")
    violations.push(`the turn's answer is ${JSON.stringify(turn.answer)}`);
  const handedOver = delegations.filter(({ isHandedOver }) => isHandedOver).length;
  if (handedOver !== delegations.length)
    violations.push(`${handedOver} of ${delegations.length} reports were handed over`);
  const sum = (of: (work: Work) => number) => works.reduce((total, work) => total + of(work), 0);
  const statuses = works.map(({ record }) =>
    record.status === "completed" ? "completed" : (record.error?.code ?? ""),
  );
  const sorted = resumedMs.toSorted((left, right) => left - right);
  return {
    kills,
    seconds: Math.round(seconds),
    attempts: sum(({ record }) => record.attempts),
    turnAttempts: turn.attempts,
    turns: sum(({ record }) => record.turns),
    completed: statuses.filter((status) => status === "completed").length,
    workerLost: statuses.filter((status) => status === "WORKER_LOST").length,
    otherEndings: statuses.filter((status) => status !== "completed" && status !== "WORKER_LOST").length,
    reports: works.filter((work) => work.hasReport).length,
    commands: sum((work) => work.commands),
    lines: sum((work) => work.lines),
    mayHaveRunAndDid: sum((work) => work.unsureAndThere),
    mayHaveRunAndDidNot: sum((work) => work.unsureAndMissing),
    medianResumeMs: sorted[Math.floor(sorted.length / 2)] ?? 0,
    slowestResumeMs: sorted.at(-1) ?? 0,
    violations,
  };
}

interface Work {
  record: Delegation;
  hasReport: boolean;
  commands: number;
  lines: number;
  unsureAndThere: number;
  unsureAndMissing: number;
  violations: string[];
}

async function lookAtWork(site: CrashSite, session: SessionHandle, id: string): Promise<Work> {
  const record = await session.report(id);
  if (record === undefined) throw new Error(`${id} is gone`);
  const name = id.replace("task-", "d");
  const entries = await site.entries(session, id);
  const lineOf = toLines(entries);
  const commands = [...lineOf.values()];
  const unsure = toUnsure(entries, lineOf);
  const lines = (await site.read(`${name}.log`)).split("\n").filter((line) => line !== "");
  const written = new Set(lines);
  const missing = commands.filter((command) => !written.has(command));
  const hasReport = record.report.endsWith(`report of ${name}`);
  const violations = [
    ...(record.status === "running" ? [`${id} has not settled`] : []),
    ...(record.status === "completed" && !hasReport
      ? [`the report of ${id} is ${JSON.stringify(record.report)}`]
      : []),
    ...lines
      .filter((line, index) => lines.indexOf(line) !== index)
      .map((line) => `line ${line} is there twice`),
    ...lines.filter((line) => !commands.includes(line)).map((line) => `nobody asked for line ${line}`),
    ...missing.filter((line) => !unsure.has(line)).map((line) => `line ${line} is missing`),
  ];
  return {
    record,
    hasReport,
    commands: commands.length,
    lines: lines.length,
    unsureAndThere: [...unsure].filter((line) => written.has(line)).length,
    unsureAndMissing: [...unsure].filter((line) => !written.has(line)).length,
    violations,
  };
}

/** The line that each call of a transcript is to write. A repeated id of a call is made another on the way: the command says what is meant. */
function toLines(entries: readonly JournalEntry[]): Map<string, string> {
  const calls = entries.flatMap((entry) =>
    entry.kind === "message" && entry.message.role === "assistant"
      ? entry.message.content.filter((part) => part.type === "toolCall")
      : [],
  );
  return new Map(
    calls.map((call) => [call.id, /^echo (\S+)/.exec(String(call.arguments.command))?.[1] ?? call.id]),
  );
}

function toUnsure(entries: readonly JournalEntry[], lineOf: ReadonlyMap<string, string>): Set<string> {
  const unsure = entries.flatMap((entry) =>
    entry.kind === "tool-end" && JSON.stringify(entry.result.content).includes("It may have run")
      ? (lineOf.get(entry.result.toolCallId) ?? [])
      : [],
  );
  return new Set(unsure);
}
