import type { CatalogueRequest } from "../../core/definition.ts";
import { ServerError } from "../server/server-error.ts";
import { checkEnvironment, type EnvironmentReader } from "./check-environment.ts";
import { checkGit, checkNode, checkProc, checkRipgrep } from "./check-programs.ts";
import { checkServer, type ServerQuestions } from "./check-server.ts";
import { checkState } from "./check-state.ts";
import { checkTemporalProgram } from "./check-temporal-program.ts";
import { checkDefinitions, checkModel, checkWorkspace, type ModelQuestion } from "./check-work.ts";
import { carryOut, type Finding, ok, problem } from "./finding.ts";
import { lookForServer, type ServerLook } from "./look-for-server.ts";
import { findTemporalName } from "./temporal-command.ts";

/** What an examination looks at. */
export interface Examination extends ServerLook {
  questions: Omit<ServerQuestions, "temporal">;
  definitions: CatalogueRequest;
  model: ModelQuestion;
  /** The parts of the environment that commands read before they start anything. */
  settings: readonly EnvironmentReader[];
}

/**
 * Look at everything that a session needs on this host and its server, all at once and within seconds. Starts nothing, changes nothing, sends
 * nothing to a provider.
 */
export async function examine(examination: Examination): Promise<Finding[]> {
  const { environment, stateFolder, definitions, model, settings } = examination;
  const found = await Promise.all([
    carryOut("server", () => examineServer(examination)),
    carryOut("environment", () => checkEnvironment(settings)),
    carryOut("temporal program", () => checkTemporalProgram(environment, stateFolder)),
    carryOut("state folder", () => checkState(stateFolder)),
    carryOut("node", checkNode),
    carryOut("git", () => checkGit(environment)),
    carryOut("ripgrep", () => checkRipgrep(environment)),
    carryOut("processes", checkProc),
    carryOut("workspace", () => checkWorkspace(definitions.workspace)),
    carryOut("definitions", () => checkDefinitions(definitions)),
    carryOut("model", () => checkModel(model, environment)),
  ]);
  return found.flat();
}

async function examineServer(examination: Examination): Promise<Finding[]> {
  try {
    const server = await lookForServer(examination);
    if (server === undefined) {
      return [
        ok("server", "none is configured and none runs; a command that needs one starts the dev server"),
      ];
    }
    const temporal = await findTemporalName(examination);
    return await checkServer(server, { ...examination.questions, temporal });
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
    return [problem("server", error.message, "see docs/server.md")];
  }
}
