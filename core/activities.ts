import type { AgentRunInput, AgentRunOutcome } from "./agent-run.ts";
import type { Catalogue, CatalogueRequest } from "./definition.ts";

/** The activities that the workflows call. Tests fake this interface; `activities/` implements it. */
export interface Activities {
  /**
   * Run one agent to its end: a turn of the main agent, or a delegate's whole work.
   *
   * Ends of the work are values. Thrown are: a cancellation without a result, a worker's shutdown (retryable), and a bug of ours
   * (`INTERNAL`, not retryable).
   */
  runAgent(input: AgentRunInput): Promise<AgentRunOutcome>;
  /** Read the definitions in force and put their prompts into the state folder. */
  loadCatalogue(request: CatalogueRequest): Promise<Catalogue>;
  /** Read a settled delegation's report that the session no longer carries. Empty where it is gone. */
  readReport(request: { sessionId: string; delegationId: string }): Promise<string>;
}
