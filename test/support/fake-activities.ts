import { Context } from "@temporalio/activity";
import type { Activities } from "../../core/activities.ts";
import type { AgentRunInput, AgentRunOutcome } from "../../core/agent-run.ts";
import type { Definition } from "../../core/definition.ts";
import { noUsage } from "../../core/status.ts";

export const explorer: Definition = {
  name: "explorer",
  description: "looks around",
  tools: ["Read", "Glob", "Grep"],
  permission: "inherit",
  maxTurns: 60,
  source: "builtin",
  file: "/agents/explorer.md",
  promptSha256: "0".repeat(64),
};

/** An outcome as a run would give it. */
export function outcome(changes: Partial<AgentRunOutcome> = {}): AgentRunOutcome {
  return {
    status: "completed",
    report: "found it",
    turns: 2,
    toolCalls: 1,
    usage: noUsage,
    attempts: 1,
    denials: [],
    model: "test/model",
    ...changes,
  };
}

/** Where a test decides when and how each run ends; `main` and the delegates' ids are the keys. */
export class Runs {
  readonly seen: AgentRunInput[] = [];
  readonly #endings = new Map<
    string,
    { promise: Promise<AgentRunOutcome>; end: (outcome: AgentRunOutcome) => void }
  >();

  end(chain: string, ending: AgentRunOutcome = outcome()): void {
    this.#find(chain).end(ending);
  }

  /** Runs as an activity: ends as the test says, or with what a stopped run leaves. */
  async run(input: AgentRunInput): Promise<AgentRunOutcome> {
    this.seen.push(input);
    const context = Context.current();
    context.heartbeat(undefined);
    const stopped = context.cancelled.catch(() =>
      outcome({ status: "cancelled", report: "half a sentence" }),
    );
    return await Promise.race([this.#find(input.runId).promise, stopped]);
  }

  #find(chain: string) {
    const found = this.#endings.get(chain);
    if (found !== undefined) return found;
    const { promise, resolve } = Promise.withResolvers<AgentRunOutcome>();
    const made = { promise, end: resolve };
    this.#endings.set(chain, made);
    return made;
  }
}

export function fakeActivities(runs: Runs, definitions: Definition[] = [explorer]): Activities {
  return {
    runAgent: async (input) => await runs.run(input),
    loadCatalogue: async () => ({ definitions, problems: [] }),
    salvageRun: async ({ chain }) => ({ report: `left by ${chain}`, turns: 1, toolCalls: 1, usage: noUsage }),
  };
}
