import { expect, test } from "@jest/globals";
import { z } from "zod";
import { toRedactor, toSecretHider } from "../../activities/models/redact.ts";
import { RunMonitor } from "../../activities/run/run-monitor.ts";
import { toFailure } from "../../activities/run/run-outcome.ts";
import { toAgentTool } from "../../activities/thread/tool-adapter.ts";
import type { Tool, ToolContext } from "../../activities/tools/tool.ts";
import type { AgentRunInput } from "../../core/agent-run.ts";

test.each([
  ["KEYCLOAK_URL", "http://localhost:8080", "connect ECONNREFUSED http://localhost:8080/auth"],
  ["MONKEYS", "function", "x is not a function"],
  ["SSH_KEY_PATH", "/home/me/.ssh", "cannot open /home/me/.ssh/id"],
  ["MAX_TOKENS", "1000000000", "1000000000 is too large"],
  ["PRIMARY_KEY", "customer_id_2", "no column customer_id_2"],
  ["AUTH_TOKEN_TTL", "86400000", "86400000 ms have passed"],
  ["ANTHROPIC_MODEL", "claude-opus-4-20250514", "no model claude-opus-4-20250514"],
  ["AWS_PROFILE", "production-2", "no profile production-2"],
  // Named like secrets, and none.
  ["POSTGRES_PASSWORD", "postgres", 'database "postgres" does not exist'],
  ["OPENAI_API_KEY", "not-needed", "it is not-needed"],
  ["VAULT_TOKEN", "/etc/vault/token1", "no such file: /etc/vault/token1"],
  ["MY_SECRET", process.cwd(), `in ${process.cwd()}`],
  ["ACCESS_TOKEN", "https://id.example.com/token2", "GET https://id.example.com/token2"],
  ["DB_PASSWORD", "localhost:5432", "connect localhost:5432"],
])("what %s=%s holds stays readable in errors", (name, value, text) => {
  expect(toSecretHider({ [name]: value })(text)).toBe(text);
});

test.each([
  ["ANTHROPIC_API_KEY", "sk-secret-1234567890"],
  ["anthropic_api_key", " sk-secret-1234567890\n"],
  ["OPENAI_API_KEYS", "a1b2c3d4"],
  ["MY_APIKEY_PROD", "correct-horse-battery"],
  ["ANTHROPIC_AUTH_TOKEN", "abcDEFghiJKL"],
  ["AWS_SECRET_ACCESS_KEY", "/9j4AAQSkZJRgABAQ/EASABIAAD"],
  ["TEMPORAL_API_KEY", "eyJhbGciOiJSUzI1NiJ9.e30.c2ln"],
  ["GITHUB_TOKEN", "ghp_0123456789abcdef"],
  ["DB_PASSWORD", "hunter2hunter2"],
  ["STRIPE_SECRET_KEY", "rk_live_0123456789"],
  ["DEPLOY_TOKEN", "https://me:pass@example.com/"],
  ["HOOK_SECRET", "https://example.com/hook?token=abc"],
])("the value of %s never appears in an error", (name, value) => {
  expect(toSecretHider({ [name]: value })(`401 for ${value.trim()}, again ${value.trim()}.`)).toBe(
    "401 for [key], again [key].",
  );
});

const run: AgentRunInput = {
  role: "delegate",
  sessionId: "s",
  chain: "task-1",
  runId: "task-1",
  agent: "explorer",
  turn: 1,
  prompt: "look",
  workspace: "/",
  model: { kind: "script", file: "/script.json" },
  tools: [],
  catalogue: [],
  permission: { mode: "auto", scope: "inherit", canAsk: false },
  limits: { idleSeconds: 300, maxDurationSeconds: 21_600 },
  watchdog: "enforce",
};

function toMessage(message: string): string | undefined {
  const monitor = new RunMonitor({ attempt: 1, previous: undefined, model: "m", worker: "w" }, 0);
  return toFailure(run, monitor, 1, "INTERNAL", message).error?.message;
}

test.each([
  "/srv/key-management-service does not exist",
  "no script: npm run pk-integration-tests",
  "GET /v1?key=value and sk-translations-missing",
])("an ending that no provider spoke keeps what only looks like a key: %s", (message) => {
  expect(toMessage(message)).toBe(message);
});

test("an ending has no secret of the worker", () => {
  process.env.OF_A_TEST_API_KEY = "sk-secret-1234567890";
  try {
    expect(toMessage("died of sk-secret-1234567890")).toBe("died of [key]");
  } finally {
    delete process.env.OF_A_TEST_API_KEY;
  }
});

test("a tool that breaks tells no secret either", async () => {
  const broken: Tool = {
    name: "Read",
    description: "",
    input: z.object({}),
    toTarget: () => "",
    execute: () => Promise.reject(new Error("broken at sk-secret-1234567890")),
  };
  const hide = toSecretHider({ OPENAI_API_KEY: "sk-secret-1234567890" });
  const tool = toAgentTool(broken, () => ({}) as ToolContext, hide);
  await expect(tool.execute("call-1", {}, undefined)).rejects.toThrow("broken at [key]");
});

test("a provider's words lose whatever looks like a key, and no ordinary words", () => {
  const redact = toRedactor({});
  expect(redact("invalid sk-proj-abcdefghijkl, key-0123456789abcdef")).toBe("invalid [key], [key]");
  expect(redact("key-management-service is down")).toBe("key-management-service is down");
});
