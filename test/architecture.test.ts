// Tier: no server. The shape of the tree, as a rule.
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import {
  DEFAULT_TASK_QUEUE,
  queryNames,
  refusals,
  signalNames,
  updateNames,
  workflowNames,
} from "../core/messages.ts";
import { bundleWorkflows } from "../worker/workflow-bundle.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** What each folder may import of the others. */
const arrows: Record<string, string[]> = {
  core: [],
  workflows: ["core"],
  activities: ["core"],
  worker: ["activities", "client", "core"],
  client: ["core", "worker"],
};

async function listSources(folder: string): Promise<string[]> {
  const entries = await readdir(path.join(root, folder), { recursive: true });
  return entries.filter((entry) => entry.endsWith(".ts")).map((entry) => path.join(folder, entry));
}

async function readImports(file: string): Promise<string[]> {
  const text = await readFile(path.join(root, file), "utf8");
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1] ?? "");
}

describe("the arrows of dependency", () => {
  test.each(Object.keys(arrows))("%s imports no folder that it must not know", async (folder) => {
    for (const file of await listSources(folder)) {
      for (const name of await readImports(file)) {
        if (!name.startsWith(".")) continue;
        const target = path.join(path.dirname(file), name).split(path.sep)[0] ?? "";
        if (target !== folder)
          expect({
            file,
            allowed: arrows[folder],
            target: arrows[folder]?.includes(target) ? "allowed" : target,
          }).toEqual({ file, allowed: arrows[folder], target: "allowed" });
      }
    }
  });

  test("core and workflows import no Node built-in, no worker, no activity context and no agent loop", async () => {
    for (const file of [...(await listSources("core")), ...(await listSources("workflows"))]) {
      const outside = (await readImports(file)).filter((name) => !name.startsWith("."));
      const allowed = [
        "zod",
        "@temporalio/common",
        ...(file.startsWith("workflows") ? ["@temporalio/workflow"] : []),
      ];
      expect({ file, outside: outside.filter((name) => !allowed.includes(name)) }).toEqual({
        file,
        outside: [],
      });
    }
  });

  test("pi's agent loop is imported as a value by one file alone", async () => {
    const files = await listSources("activities");
    const importers: string[] = [];
    for (const file of files) {
      const text = await readFile(path.join(root, file), "utf8");
      if (/import\s+(?!type\b)[^;]*from "@earendil-works\/pi-agent-core"/.test(text)) importers.push(file);
    }
    expect(importers).toEqual(["activities/thread/agent-loop.ts"]);
  });

  test("the workflows bundle for the sandbox", async () => {
    const { code } = await bundleWorkflows();
    expect(code).toContain("sessionWorkflow");
    expect(code).not.toMatch(/pi-agent-core|node:fs/);
  }, 60_000);
});

describe("the wire contract", () => {
  test("names that running sessions depend on stay as they are", () => {
    expect({ workflowNames, updateNames, queryNames, signalNames, refusals, DEFAULT_TASK_QUEUE }).toEqual({
      workflowNames: { session: "sessionWorkflow", delegate: "delegateWorkflow" },
      updateNames: {
        send: "send",
        task: "task",
        taskWait: "taskWait",
        taskStop: "taskStop",
        abortTurn: "abortTurn",
        close: "close",
        answerPermission: "answerPermission",
        setPermissionMode: "setPermissionMode",
      },
      queryNames: { session: "session", report: "report", turn: "turn", permission: "permission" },
      signalNames: { delegateSettled: "delegateSettled", permissionAsked: "permissionAsked", stop: "stop" },
      refusals: {
        badInput: "Input.Invalid",
        unknownAgent: "Task.UnknownAgent",
        unresolvedModel: "Task.UnresolvedModel",
        capReached: "Task.CapReached",
        contractMode: "Task.ContractMode",
        turnOver: "Task.TurnOver",
        cannotResume: "Task.CannotResume",
        turnRunning: "Send.TurnRunning",
        closing: "Session.Closing",
        unknownQuestion: "Permission.UnknownQuestion",
        tooManyCalls: "Session.TooManyCalls",
        tooManyWaits: "Session.TooManyWaits",
      },
      DEFAULT_TASK_QUEUE: "subagents",
    });
  });
});

describe("the files", () => {
  test("none is longer than 300 lines", async () => {
    for (const folder of [...Object.keys(arrows), "test", "bench"]) {
      for (const file of await listSources(folder).catch(() => [])) {
        const lines = (await readFile(path.join(root, file), "utf8")).split("\n").length - 1;
        expect({ file, isShort: lines <= 300 }).toEqual({ file, isShort: true });
      }
    }
  });
});
