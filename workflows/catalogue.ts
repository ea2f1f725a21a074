import { log } from "@temporalio/workflow";
import { loadCatalogue } from "./agent-run.ts";
import type { SessionContext } from "./session-context.ts";

/**
 * Read the definitions in force into the session. At its start, so that any host can delegate at once, and at the start of each turn.
 *
 * What could be read last stays in force where a reading fails; `catalogueFault` says why.
 */
export async function readCatalogue(session: SessionContext): Promise<void> {
  const { input } = session;
  try {
    const { definitions } = await loadCatalogue(
      {
        workspace: input.workspace,
        directories: input.agentDirectories,
        projectAgents: input.projectAgents,
        modelAliases: input.modelAliases,
        sessionModel: input.model,
      },
      session.taskQueue,
    );
    session.state.catalogue = definitions;
    session.catalogueFault = undefined;
  } catch (error) {
    session.catalogueFault = describeChain(error);
    log.warn("the definitions could not be read", { error });
  } finally {
    session.catalogueReadAtMs = Date.now();
  }
}

function describeChain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? describeChain(error.cause) : error.message;
}
