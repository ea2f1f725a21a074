import { HistoryError } from "../../worker/replay/history.ts";
import type { HistorySource } from "../../worker/replay/replay-histories.ts";
import { fetchHistories, isNotFound } from "../workflow-histories.ts";
import { toFailure } from "./cli-error.ts";
import { type Connected, connect } from "./connect.ts";
import type { Host } from "./host.ts";
import type { ReplayFlags } from "./replay.ts";

/** Where histories of workflows come from. It is found when the first one is asked for: files alone need none. */
export interface HistoryServer {
  /** A workflow's histories; what keeps them from being had comes in their place. */
  fetch(workflowId: string): AsyncGenerator<HistorySource>;
  /** Runs that the server keeps no longer. */
  readonly gone: readonly string[];
  release(): Promise<void>;
}

/** Connect to the server that histories are fetched from, once the first one is asked for. */
export function createHistoryServer(flags: ReplayFlags, host: Host): HistoryServer {
  let connecting: Promise<Connected> | undefined;
  const gone: string[] = [];
  const options = {
    runId: flags.runId,
    hasChildren: flags.delegates,
    signal: host.interruption.signal,
    onGone(workflowId: string, runId: string) {
      gone.push(runId);
      host.output.say(`${workflowId}: run ${runId} is not kept by the server any more`);
    },
  };
  return {
    gone,
    async *fetch(name) {
      try {
        connecting ??= connect(flags, host);
        const { client } = await connecting;
        for await (const { workflowId, ...found } of fetchHistories(client, name, options)) {
          yield { name: workflowId, ...found };
        }
      } catch (error) {
        host.interruption.signal.throwIfAborted();
        yield { name, error: toHistoryError(error) };
      }
    },
    async release() {
      const opened = await connecting?.catch(() => undefined);
      await opened?.release();
    },
  };
}

function toHistoryError(error: unknown): HistoryError {
  if (isNotFound(error)) {
    return new HistoryError("there is no such file, and no such workflow on the server", { isMissing: true });
  }
  return new HistoryError(`its history can't be fetched: ${toFailure(error).message}`);
}
