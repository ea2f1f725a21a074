// Tier: the real command line, server, worker and tools; the model is a real HTTP server that speaks the OpenAI protocol and checks every transcript.
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Handler, type OpenAiServer, startOpenAiServer } from "../support/openai-server.ts";
import { callTools, errorEvent, reply } from "../support/openai-server-behaviours.ts";
import { createMachine, type Machine } from "./cli-process.ts";

let machine: Machine;
let model: OpenAiServer;

/** Answers by what the request says: whose it is, and how many answers it has had. */
const answer: Handler = async (exchange) => {
  const { messages } = exchange.request;
  const answers = messages.filter(({ role }) => role === "assistant").length;
  const isDelegate = JSON.stringify(messages[0]).includes("You work for another agent");
  await (isDelegate ? playDelegate : playMain)(answers)(exchange);
};

// A server that gives every call the same id, as some do.
const call = (name: string, input: Record<string, unknown>) => callTools({ id: "call_0", name, input });
const playMain = (answers: number): Handler =>
  [
    call("Task", { agent: "fixer", task: "Write the file.", description: "the file" }),
    call("Task", { agent: "explorer", task: "Read the file.", description: "the other file" }),
    call("TaskWait", {}),
  ][answers] ?? reply("Both are done.");
let hasFailed = false;
const playDelegate = (answers: number): Handler => {
  if (answers === 1 && !hasFailed) {
    hasFailed = true;
    return errorEvent({ message: "overloaded", type: "overloaded_error" }, { texts: ["I was about to say"] });
  }
  return [call("Bash", { command: "echo once >> made.txt" })][answers] ?? reply("My report.");
};

beforeAll(async () => {
  machine = await createMachine();
  model = await startOpenAiServer(answer);
  await writeFile(path.join(machine.workspace, "a.txt"), "hello\n");
}, 180_000);
afterAll(async () => await model?.close());

test("a session over HTTP delegates, survives an overload in mid-stream without repeating a tool, and keeps equal call ids apart", async () => {
  machine.environment.OPENAI_API_KEY = "any";
  const result = await machine.run(
    "run",
    "go",
    "--json",
    "--model",
    "openai/x",
    "--base-url",
    model.baseUrl,
    "--permission",
    "auto",
  );
  const last = result.events.at(-1) as {
    type: string;
    status: string;
    answer: string;
    delegations: { id: string; agent: string; status: string; report: string; usage: { input: number } }[];
  };
  expect(last).toMatchObject({ type: "result", status: "completed", answer: "Both are done." });
  expect(last.delegations.map(({ id, agent, status, report }) => ({ id, agent, status, report }))).toEqual([
    { id: "task-1", agent: "fixer", status: "completed", report: "My report." },
    { id: "task-2", agent: "explorer", status: "completed", report: "My report." },
  ]);
  expect(result.code).toBe(0);
  // The explorer has no Bash: only the fixer's call ran, and once, though its next turn was tried twice.
  expect(await readFile(path.join(machine.workspace, "made.txt"), "utf8")).toBe("once\n");
  expect(hasFailed).toBe(true);
}, 120_000);
