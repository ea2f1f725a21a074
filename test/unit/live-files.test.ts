import { describe, expect, test } from "@jest/globals";
import { freshen } from "../../client/live-files.ts";
import type { LiveState } from "../../core/activity-text.ts";
import type { AgentRunDetails } from "../../core/agent-run.ts";
import type { LiveFileContent } from "../../core/live-file.ts";
import { toDetails } from "../support/run-details.ts";

const running = (change: Partial<AgentRunDetails> = {}): LiveState => ({
  kind: "running",
  attempt: 1,
  details: toDetails(change),
});

describe("a live file", () => {
  const file = (change: Partial<AgentRunDetails> = {}, atMs = 60_000): LiveFileContent => ({
    sessionId: "s",
    chain: "task-1",
    atMs,
    details: toDetails({ lastEventAtMs: 60_000, ...change }),
    saying: "fresh",
  });
  const kindOf = (live: LiveState | undefined) => live?.kind;
  const saying = (live: LiveState | undefined) =>
    live !== undefined && "details" in live ? live.details?.partialReport : undefined;

  test("counts where it is fresher than the server's record of the same attempt", () => {
    expect(saying(freshen(running(), file(), 50_000, () => true))).toBe("fresh");
    expect(saying(freshen(running({ lastEventAtMs: 61_000 }), file(), 50_000, () => true))).toBe(
      "I am\nsaying this",
    );
    const later: LiveState = { kind: "running", attempt: 2, details: undefined };
    expect(freshen(later, file(), 50_000, () => true)).toBe(later);
    expect(saying(freshen({ kind: "queued" }, file(), 50_000, () => true))).toBe("fresh");
    expect(kindOf(freshen({ kind: "queued" }, file(), 60_001, () => true))).toBe("queued");
    expect(kindOf(freshen({ kind: "stopping", details: undefined }, file(), 0, () => true))).toBe("stopping");
  });

  test("of a worker that is dead tells since when", () => {
    expect(freshen(running(), file(), 50_000, () => false)).toMatchObject({
      kind: "worker-lost",
      sinceMs: 60_000,
    });
    expect(kindOf(freshen(running(), file({ worker: "1@elsewhere" }), 50_000))).toBe("running");
  });
});
