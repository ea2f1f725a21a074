import type { AgentRunInput, AgentRunOutcome } from "./agent-run.ts";
import type { Catalogue, CatalogueRequest } from "./definition.ts";
import type { Usage } from "./status.ts";

/** What a run left in the state folder, whatever ended it. */
export interface RunRemains {
  /** The report, else the last assistant text; at most 12,000 characters; empty where nothing is left. */
  report: string;
  turns: number;
  toolCalls: number;
  usage: Usage;
}

/** The activities that the workflows call. Tests fake this interface; `activities/` implements it. */
export interface Activities {
  /**
   * Run one agent to its end: a turn of the main agent, or a delegate's whole work.
   *
   * Ends of the work are values. Thrown are: a worker's shutdown (retryable), and a bug of ours (`INTERNAL`, not retryable).
   */
  runAgent(input: AgentRunInput): Promise<AgentRunOutcome>;
  /** Read the definitions in force and put their prompts into the state folder. */
  loadCatalogue(request: CatalogueRequest): Promise<Catalogue>;
  /** Read what is left of a run that ended without a word, or whose report the session no longer carries. */
  salvageRun(request: { sessionId: string; chain: string }): Promise<RunRemains>;
}
