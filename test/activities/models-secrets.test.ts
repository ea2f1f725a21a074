// Tier: real files.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "@jest/globals";
import { createModelRuntime } from "../../activities/models/runtime.ts";
import { ask, toUser } from "../support/openai-server-client.ts";

test("a scripted failure loses the environment's keys as a provider's does", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "script-"));
  const file = path.join(folder, "script.json");
  await writeFile(
    file,
    JSON.stringify({ main: [{ error: { status: 401, message: "bad key correct-horse-battery" } }] }),
  );
  const environment = { MY_API_KEY: "correct-horse-battery" };
  const options = { role: "main", agent: "main", task: "x", environment } as const;
  const runtime = await createModelRuntime({ kind: "script", file }, options);
  const { message } = await ask(runtime, { messages: [toUser("x")] });
  const failure = runtime.takeFailure(message);
  expect(failure.message).toContain("bad key [key]");
  expect(failure.message).not.toContain("horse");
  await rm(folder, { recursive: true });
});
