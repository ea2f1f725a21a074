import { toModelLabel } from "../core/definition.ts";
import { type Delegation, type Settlement, toElapsedSeconds } from "../core/delegation.ts";
import { toMarkdownLine, toMarkdownQuote } from "../core/markdown.ts";
import { toGist } from "../core/report-gist.ts";
import type { DelegateInput, SessionInput, SessionState, Turn } from "../core/session.ts";
import { type DelegationStatus, delegationStatuses, type RunError } from "../core/status.ts";
import { toCountText } from "../core/text.ts";

/** Rows of a session's table in Temporal Web; the latest are shown. */
const MAX_ROWS = 40;
const MAX_TURNS = 5;

/** Describe a session for Temporal Web, as Markdown: what was asked and answered, and each delegation with its ending. */
export function toSessionDetails(input: SessionInput, state: SessionState, nowMs: number): string {
  const shown = state.delegations.slice(-MAX_ROWS);
  const earlier = state.lastDelegation - shown.length;
  const rows = shown.map((delegation) => toRow(delegation, nowMs));
  const table = ["| delegate | how it ended | what it did |", "|---|---|---|", ...rows];
  const open = state.questions.filter((question) => question.state === "open");
  return [
    ...state.turns.slice(-MAX_TURNS).map(describeTurn),
    ...open.map(
      ({ id, agent, tool, target }) =>
        `**Asks permission** (${id}): ${toMarkdownLine(`${agent} wants ${tool} ${target}`, 200)}`,
    ),
    shown.length === 0
      ? "No delegations yet."
      : `**Delegates:** ${countStatuses(state.delegations)}${earlier > 0 ? ` (the latest ${shown.length} of ${state.lastDelegation} are shown)` : ""}`,
    ...(shown.length === 0 ? [] : [table.join("\n")]),
    `Workspace ${toMarkdownLine(input.workspace, 300)} · model ${toMarkdownLine(toModelLabel(input.model), 200)} · permissions ${state.permissionMode}`,
  ].join("\n\n");
}

function describeTurn(turn: Turn): string {
  const why = turn.error === undefined ? "" : `, ${describeError(turn.error, 200)}`;
  const asked = `**Turn ${turn.number}** (${turn.status}${why}): ${toMarkdownLine(turn.prompt, 300)}`;
  return turn.answer === "" ? asked : `${asked}\n\n**Answer:** ${toMarkdownLine(turn.answer, 300)}`;
}

function toRow(delegation: Delegation, nowMs: number): string {
  const { id, agent, description, status, error, stopRequested } = delegation;
  const seconds = Math.round(toElapsedSeconds(delegation, nowMs));
  const why = error === undefined ? (unspokenReasons[status] ?? "") : `: ${describeError(error, 200)}`;
  const state = stopRequested === undefined ? "running" : "running, stop requested";
  const ending = status === "running" ? state : `**${status}** after ${seconds} s${why}`;
  const purpose = description === "" ? "" : `: ${toMarkdownLine(description, 120)}`;
  const cells = [`**${id}** ${toMarkdownLine(agent, 64)}${purpose}`, ending, describeWork(delegation)];
  return `| ${cells.join(" | ")} |`;
}

/** Endings that carry no error say all the same why. */
const unspokenReasons: Partial<Record<DelegationStatus, string>> = {
  stopped: ": somebody asked it to end",
  aborted: ": its turn or session ended before it",
};

function describeWork({ status, turns, toolCalls, report }: Delegation): string {
  if (status === "running") return "";
  const counts = `${toCountText(turns, "turn")}, ${toCountText(toolCalls, "tool call")}`;
  return report === "" ? counts : `${counts}. ${toMarkdownLine(toGist(report), 160)}`;
}

function countStatuses(delegations: readonly Delegation[]): string {
  return delegationStatuses
    .map((status) => [delegations.filter((each) => each.status === status).length, status] as const)
    .filter(([number]) => number > 0)
    .map(([number, status]) => `${number} ${status}`)
    .join(" · ");
}

/** Describe a delegate for Temporal Web, as Markdown: how it ended and why, its task, and its report. */
export function toDelegateDetails(input: DelegateInput, settlement: Settlement | undefined): string {
  const { run, delegationId } = input;
  const head = `${toMarkdownLine(run.agent, 64)}, ${delegationId} of session ${toMarkdownLine(run.sessionId, 200)}`;
  const task = `**Task**\n\n${toMarkdownQuote(run.prompt, 2000)}`;
  if (settlement === undefined) return [`**running** · ${head}`, task].join("\n\n");
  const { status, error, turns, toolCalls, report } = settlement;
  const why = error === undefined ? (unspokenReasons[status] ?? "") : `: ${describeError(error, 500)}`;
  const facts = `${head} · ${toCountText(turns, "turn")}, ${toCountText(toolCalls, "tool call")}`;
  return [
    `**${status}**${why}`,
    facts,
    task,
    `**${isWhole(status) ? "Report" : "What it had written"}**\n\n${toMarkdownQuote(report || "nothing", 6000)}`,
  ].join("\n\n");
}

function isWhole(status: DelegationStatus): boolean {
  return status === "completed" || status === "truncated";
}

function describeError(error: RunError, limit: number): string {
  return `${error.code.replaceAll("_", "\\_")}: ${toMarkdownLine(error.message, limit)}`;
}
