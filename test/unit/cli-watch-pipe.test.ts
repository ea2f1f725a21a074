import { describe, expect, test } from "@jest/globals";
import { createOutput } from "../../client/cli/output.ts";
import { createWatchDisplay } from "../../client/cli/watch-display.ts";
import type { AgentRunDetails } from "../../core/agent-run.ts";
import { running, toDelegation, toPicture, toWatched } from "../support/watch-picture.ts";

describe("watch in a pipe", () => {
  test("tells what changed, not what only went on", () => {
    const lines: string[] = [];
    const output = createOutput({
      isJson: true,
      stdout: { write: (line: string) => lines.push(line) },
      stderr: { write: () => undefined },
    });
    const display = createWatchDisplay(output);
    const show = (change: Partial<AgentRunDetails>, nowMs: number) =>
      display.show(() => ({
        ...toPicture({ ...toWatched([toDelegation(1)], new Map([["task-1", running(change)]])), nowMs }),
      }));
    show({}, 61_000);
    show({}, 62_000);
    show({ phase: "tool", tool: { name: "Read", target: "a", sinceMs: 1 } }, 62_000);
    show({ phase: "tool", tool: { name: "Read", target: "a", sinceMs: 1 } }, 69_000);
    show({ phase: "tool", tool: { name: "Read", target: "a", sinceMs: 5 } }, 69_000);
    const told = lines
      .map((line) => JSON.parse(line))
      .map(({ type, id, activity }) => `${type} ${id} ${activity}`);
    expect(told).toEqual([
      "session undefined undefined",
      "agent main no news yet",
      "agent task-1 waiting for the model, last event 3s ago",
      "agent task-1 running Read a for 62s",
      "agent task-1 running Read a for 69s",
    ]);
  });
});
