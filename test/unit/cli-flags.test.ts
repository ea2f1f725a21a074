import { mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import { CliError, toFailure } from "../../client/cli/cli-error.ts";
import { toExitCode } from "../../client/cli/exit-codes.ts";
import { createProgram } from "../../client/cli/program.ts";
import { readPrompt } from "../../client/cli/read-prompt.ts";
import { listWarnings, type SessionFlags, toSessionInput } from "../../client/cli/session-flags.ts";
import { SessionError, sessionErrorCodes } from "../../client/session-error.ts";
import { refusals } from "../../core/messages.ts";
import { SessionRefusal } from "../../core/session-port.ts";

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "cli-flags-")));
const script = path.join(folder, "script.json");
writeFileSync(script, "{}");
symlinkSync(folder, path.join(folder, "link"));

const usual: SessionFlags = {
  workspace: folder,
  agents: [],
  projectAgents: false,
  modelAlias: [],
  permission: "ask",
  plan: false,
  leftovers: "abort",
  watchdog: "enforce",
};

function failureOf(act: () => unknown): { code: string; message: string; exitCode: number } {
  try {
    act();
  } catch (error) {
    return toFailure(error);
  }
  throw new Error("nothing was refused");
}

describe("a session's input", () => {
  test("captures every flag, with real paths", () => {
    const flags: SessionFlags = {
      ...usual,
      workspace: path.join(folder, "link"),
      agents: [path.join(folder, "link"), folder],
      model: "openrouter/anthropic/claude-x",
      baseUrl: "http://127.0.0.1:1/v1",
      modelAlias: ["sonnet=anthropic/claude-1", "sonnet=anthropic/claude-2"],
      thinking: "low",
      plan: true,
      permission: "auto",
    };
    const environment = { SUBAGENTS_IDLE_TIMEOUT_SECONDS: "10", SUBAGENTS_MAX_DURATION_SECONDS: "21600" };
    expect(toSessionInput(flags, environment)).toEqual({
      workspace: folder,
      model: {
        kind: "provider",
        provider: "openrouter",
        id: "anthropic/claude-x",
        baseUrl: "http://127.0.0.1:1/v1",
      },
      thinkingLevel: "low",
      permissionMode: "auto",
      contract: "plan",
      canAsk: false,
      leftovers: "abort",
      watchdog: "enforce",
      agentDirectories: [folder, folder],
      projectAgents: false,
      modelAliases: { sonnet: "anthropic/claude-2" },
      limits: { idleSeconds: 10, maxDurationSeconds: 21_600, turnMaxDurationSeconds: 86_400 },
    });
  });

  test("has the contract's limits where the environment says nothing", () => {
    const { limits, model } = toSessionInput({ ...usual, script }, { SUBAGENTS_IDLE_TIMEOUT_SECONDS: "" });
    expect(limits).toEqual({ idleSeconds: 300, maxDurationSeconds: 21_600, turnMaxDurationSeconds: 86_400 });
    expect(model).toEqual({ kind: "script", file: script });
  });

  test.each(["9", "21601", "0", "-10", "300.5", "1e2", "abc", " "])(
    "refuses %p as a time and names variable and value",
    (value) => {
      for (const variable of ["SUBAGENTS_IDLE_TIMEOUT_SECONDS", "SUBAGENTS_MAX_DURATION_SECONDS"]) {
        const failure = failureOf(() => toSessionInput({ ...usual, script }, { [variable]: value }));
        expect(failure).toMatchObject({ code: "Configuration.Invalid", exitCode: 2 });
        expect(failure.message).toContain(variable);
        expect(failure.message).toContain(JSON.stringify(value));
      }
    },
  );

  test("warns of an idle window that a TaskWait does not outlast, from its default on", () => {
    const warn = (value: string) =>
      listWarnings(toSessionInput({ ...usual, script }, { SUBAGENTS_IDLE_TIMEOUT_SECONDS: value }));
    expect(warn("599")).toEqual([]);
    expect(warn("600")).toEqual([expect.stringContaining("SUBAGENTS_IDLE_TIMEOUT_SECONDS is 600")]);
  });

  test.each([
    ["no model", {}, "Usage.NoModel"],
    ["both a model and a script", { model: "a/b", script }, "Usage.Model"],
    ["a model without a provider", { model: "sonnet" }, "Usage.Model"],
    ["a model without an id", { model: "anthropic/" }, "Usage.Model"],
    ["a script that is a folder", { script: folder }, "Usage.Script"],
    ["a script that is not there", { script: "/nowhere" }, "Usage.Script"],
    ["a base address of another kind", { model: "a/b", baseUrl: "ftp://x" }, "Usage.BaseUrl"],
    ["a workspace that is a file", { script, workspace: script }, "Usage.Folder"],
    ["a workspace that is not there", { script, workspace: "/nowhere" }, "Usage.Folder"],
    ["a folder of definitions that is not there", { script, agents: ["/nowhere"] }, "Usage.Folder"],
    ["an alias without a model", { script, modelAlias: ["sonnet"] }, "Usage.ModelAlias"],
    ["an alias for a bare name", { script, modelAlias: ["sonnet=opus"] }, "Usage.Model"],
  ])("refuses %s", (_, flags, code) => {
    expect(failureOf(() => toSessionInput({ ...usual, ...flags }, {}))).toMatchObject({ code, exitCode: 2 });
  });

  test("says which keys were found where no model is given, and never a key", () => {
    const { message } = failureOf(() => toSessionInput(usual, { OPENAI_API_KEY: "sk-secret" }));
    expect(message).toContain("OPENAI_API_KEY for openai/...");
    expect(message).not.toContain("secret");
    expect(message).toContain("--script FILE");
  });
});

describe("the prompt", () => {
  const read = (argument: string | undefined, input = "") =>
    readPrompt(argument, Readable.from([input])).catch((error) => toFailure(error).code);

  test("comes from the argument, or from standard input for a dash", async () => {
    expect(await read("do it")).toBe("do it");
    expect(await read("-", "from\nthe pipe")).toBe("from\nthe pipe");
    expect(await read("x".repeat(100_000))).toHaveLength(100_000);
  });

  test("is refused if it is missing, empty or too long", async () => {
    for (const bad of [undefined, "", " \n", "x".repeat(100_001)])
      expect(await read(bad)).toBe("Usage.Prompt");
    expect(await read("-", "")).toBe("Usage.Prompt");
    expect(await read("-", "x".repeat(100_001))).toBe("Usage.Prompt");
  });
});

describe("an exit code", () => {
  test("is the run's own status", () => {
    const statuses = ["completed", "failed", "timed_out", "aborted", "running"] as const;
    expect(statuses.map(toExitCode)).toEqual([0, 1, 3, 3, 3]);
  });

  test("tells a mistake in the call from a server or worker that is away", () => {
    const codes = [
      new SessionError(sessionErrorCodes.notFound, "x"),
      new SessionError(sessionErrorCodes.closed, "x"),
      new SessionRefusal(refusals.turnRunning, "x"),
      new CliError("Usage.Model", "x"),
      Object.assign(new Error("x"), { code: "Server.NoBinary", exitCode: 2 }),
      new SessionError(sessionErrorCodes.noWorker, "x"),
      new SessionError(sessionErrorCodes.unreachable, "x"),
      new Error("x"),
      "x",
    ].map((error) => toFailure(error).exitCode);
    expect(codes).toEqual([2, 2, 2, 2, 2, 1, 1, 1, 1]);
  });
});

describe("the command line", () => {
  test("has these commands", () => {
    const names = createProgram(() => undefined).commands.map((command) => command.name());
    expect(names.sort()).toEqual(
      [
        "agents",
        "approve",
        "deny",
        "dev",
        "doctor",
        "mode",
        "replay",
        "run",
        "send",
        "sessions",
        "show",
        "stop",
        "wait",
        "watch",
        "worker",
      ].sort(),
    );
  });
});
