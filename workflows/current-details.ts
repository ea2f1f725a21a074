import { toModelLabel } from "../core/definition.ts";
import type { Settlement } from "../core/delegation.ts";
import { toElapsedSeconds } from "../core/delegation.ts";
import type { DelegateInput, SessionInput, SessionState } from "../core/session.ts";
import { cutAt, toOneLine } from "../core/text.ts";

/** Rows of a session's table in Temporal Web; the latest are shown. */
const MAX_ROWS = 40;

/** Describe a session for Temporal Web, as Markdown: what was asked, and each delegation with its ending. */
export function toSessionDetails(input: SessionInput, state: SessionState, nowMs: number): string {
  const turns = state.turns.slice(-5).map((turn) => {
    const ending =
      turn.error === undefined
        ? turn.status
        : `${turn.status}, ${turn.error.code}: ${toCell(turn.error.message, 200)}`;
    return `**Turn ${turn.number}** (${ending}): ${toCell(turn.prompt, 300)}`;
  });
  const rows = state.delegations.slice(-MAX_ROWS).map((delegation) => {
    const seconds =
      delegation.status === "running" ? "" : `${Math.round(toElapsedSeconds(delegation, nowMs))} s`;
    const why =
      delegation.error === undefined
        ? ""
        : `${delegation.error.code}: ${toCell(delegation.error.message, 200)}`;
    return `| ${delegation.id} | ${toCell(delegation.agent, 64)} | ${toCell(delegation.description, 120)} | ${delegation.status} | ${why} | ${seconds} | ${delegation.turns} | ${delegation.toolCalls} |`;
  });
  const table =
    rows.length === 0
      ? ["No delegations yet."]
      : [
          "| id | agent | for | status | why | time | turns | tools |",
          "|---|---|---|---|---|---|---|---|",
          ...rows,
        ];
  return [
    `Workspace \`${input.workspace}\` · model \`${toModelLabel(input.model)}\` · permissions \`${state.permissionMode}\``,
    ...turns,
    table.join("\n"),
  ].join("\n\n");
}

/** Describe a delegate for Temporal Web, as Markdown: its task, and how it ended. */
export function toDelegateDetails(input: DelegateInput, settlement: Settlement | undefined): string {
  const head = `**${toCell(input.run.agent, 64)}** · ${input.delegationId} of session \`${input.run.sessionId}\``;
  const task = `**Task**\n\n${toQuote(input.run.prompt, 2000)}`;
  if (settlement === undefined) return [head, "Status: running", task].join("\n\n");
  const why =
    settlement.error === undefined
      ? ""
      : ` (${settlement.error.code}: ${toCell(settlement.error.message, 500)})`;
  const facts = `Status: **${settlement.status}**${why} · ${settlement.turns} turns · ${settlement.toolCalls} tool calls`;
  return [head, facts, task, `**Report**\n\n${toQuote(settlement.report, 6000)}`].join("\n\n");
}

/** Text of others as a table cell: one line, no Markdown structure. */
function toCell(text: string, limit: number): string {
  return toOneLine(text, limit).replace(/[|\\`*_<>[\]]/g, (character) => `\\${character}`);
}

function toQuote(text: string, limit: number): string {
  const fence = "~~~~";
  const shown = cutAt(text, limit).replaceAll(fence, "~ ~ ~ ~");
  return `${fence}\n${shown}${text.length > limit ? "\n[cut]" : ""}\n${fence}`;
}
