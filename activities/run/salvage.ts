import type { RunRemains } from "../../core/activities.ts";
import { MAX_REPORT_CHARACTERS } from "../../core/limits.ts";
import { foldJournal } from "../journal/journal-entry.ts";
import type { JournalStore } from "../journal/journal-store.ts";
import { boundReport } from "./run-monitor.ts";

/** Read what a run left in its journal, whatever ended it; empty where there is nothing. */
export async function salvageRun(
  { sessionId, chain }: { sessionId: string; chain: string },
  journals: JournalStore,
): Promise<RunRemains> {
  const state = foldJournal(await journals.read(sessionId, chain));
  const { turns, toolCalls, usage } = state;
  const isEnd = state.end?.runId === state.runId && state.end?.execution === state.execution;
  const report = (isEnd ? state.end?.outcome.report : undefined) ?? state.lastText;
  return { report: boundReport(report, MAX_REPORT_CHARACTERS), turns, toolCalls, usage };
}
