import { type Delegation, toElapsedSeconds } from "../../core/delegation.ts";
import { toCountText, toOneLine } from "../../core/text.ts";
import { toDurationText } from "./durations.ts";
import type { JsonEvent, Output } from "./output.ts";
import { listDelegationsOfTurn, type Progress, type Snapshot } from "./progress.ts";
import { describeDelegate } from "./progress-lines.ts";
import { createQuestionTeller } from "./questions.ts";

/** A line that says it still goes on, for logs that are watched. */
const SIGN_OF_LIFE_MS = 30_000;
/** Room for what is asked and the command that answers it. */
const MAX_LINE_CHARACTERS = 500;
const MAX_NAMED = 3;

/** Show progress as plain lines and, with `--json`, as events: what began, what changed, what ended. */
export function createPlainProgress(
  output: Output,
  now: () => number = Date.now,
  isAnswerable = true,
): Progress {
  let tellQuestions: ReturnType<typeof createQuestionTeller> | undefined;
  const seen = new Map<string, string>();
  let lastLineAtMs = now();
  let isEnded = false;

  function tell(line: string, event: JsonEvent): void {
    lastLineAtMs = now();
    output.say(toOneLine(line, MAX_LINE_CHARACTERS));
    output.event(event);
  }

  function tellChange(delegation: Delegation, snapshot: Snapshot): void {
    const { nowMs } = snapshot.view;
    const state = toState(delegation, snapshot);
    const before = seen.get(delegation.id);
    if (before === state) return;
    seen.set(delegation.id, state);
    const event = { ...toEventHead(delegation), status: delegation.status };
    if (before === undefined) {
      const purpose = delegation.description === "" ? "" : `: ${delegation.description}`;
      tell(`${delegation.id} ${delegation.agent} started${purpose}`, { type: "delegation", ...event });
    }
    if (delegation.status !== "running") {
      const seconds = toElapsedSeconds(delegation, nowMs);
      const code =
        delegation.error === undefined ? "" : ` (${delegation.error.code}: ${delegation.error.message})`;
      const line = `${delegation.id} ${delegation.agent} ${delegation.status}${code} after ${toDurationText(seconds)}, ${toCountText(delegation.turns, "turn")}, ${toCountText(delegation.toolCalls, "tool call")}`;
      const { error } = delegation;
      tell(line, {
        type: "delegation",
        ...event,
        elapsedSeconds: seconds,
        ...(error === undefined ? {} : { error }),
      });
    } else if (before !== undefined || state !== "running") {
      const activity = describeDelegate(delegation, snapshot.live.get(delegation.id), nowMs);
      tell(`${delegation.id} ${delegation.agent}: ${activity}`, { type: "activity", ...event, activity });
    }
  }

  function giveSignOfLife(delegations: Delegation[], snapshot: Snapshot): void {
    if (now() - lastLineAtMs < SIGN_OF_LIFE_MS) return;
    const { nowMs } = snapshot.view;
    const running = delegations.filter(({ status }) => status === "running");
    const named = running
      .slice(0, MAX_NAMED)
      .map(
        (delegation) =>
          `${delegation.id} ${describeDelegate(delegation, snapshot.live.get(delegation.id), nowMs)}`,
      );
    const more = running.length > MAX_NAMED ? [`and ${running.length - MAX_NAMED} more`] : [];
    tell(["still running", ...named, ...more].join("; "), {
      type: "progress",
      running: running.map(({ id }) => id),
    });
  }

  return {
    update(snapshot) {
      if (isEnded) return;
      const delegations = listDelegationsOfTurn(snapshot.view, snapshot.turn);
      for (const delegation of delegations) tellChange(delegation, snapshot);
      tellQuestions ??= createQuestionTeller(snapshot.view.sessionId, isAnswerable, tell, output.toCommand);
      tellQuestions(snapshot.view.questions);
      giveSignOfLife(delegations, snapshot);
    },
    note(text) {
      if (!isEnded) tell(text, { type: "note", message: text });
    },
    end() {
      isEnded = true;
    },
  };
}

function toEventHead({ id, agent, description }: Delegation) {
  return { id, agent, description };
}

/** What counts as a change: a status, and states of a running delegate that a person would want to know of. */
function toState(delegation: Delegation, snapshot: Snapshot): string {
  if (delegation.status !== "running") return delegation.status;
  if (delegation.stopRequested !== undefined) return "stopping";
  const kind = snapshot.live.get(delegation.id)?.kind;
  return kind === "worker-lost" || kind === "handed-back" ? kind : "running";
}
