import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { createModelRuntime } from "../../activities/models/runtime.ts";
import { ask } from "../support/openai-server-client.ts";

const program = fileURLToPath(new URL("../support/openai-server-main.ts", import.meta.url));

test("the tests' provider can be run by hand, with one behaviour a request", async () => {
  const server = spawn(process.execPath, [program, "--behave", "overloaded", "--behave", "reply"]);
  try {
    const [baseUrl] = (await once(createInterface(server.stdout), "line")) as [string];
    const source = { kind: "provider", provider: "openai", id: "m", baseUrl } as const;
    const runtime = await createModelRuntime(source, {
      role: "main",
      agent: "main",
      task: "",
      environment: {},
    });
    expect((await ask(runtime)).failure?.code).toBe("PROVIDER_OVERLOADED");
    expect((await ask(runtime)).text).toBe("This is an answer.");
  } finally {
    server.kill();
    await once(server, "close");
  }
});
