import { findEnvKeys } from "@earendil-works/pi-ai/compat";
import { getBuiltinProviders } from "@earendil-works/pi-ai/providers/all";
import { describe, expect, test } from "@jest/globals";
import { toToolEnvironment } from "../../activities/tools/command-environment.ts";
import { openBash } from "./bash-support.ts";

const marker = { run: "/state#run", call: "call_1", command: "c" };

function toKept(names: readonly string[]): string[] {
  const environment = Object.fromEntries(names.map((name) => [name, `secret of ${name}`]));
  const made = toToolEnvironment(environment, marker);
  return names.filter((name) => made[name] === `secret of ${name}`);
}

describe("the environment of a tool's process", () => {
  test("has no key of any provider that the model library knows", () => {
    const everything = new Proxy<Record<string, string>>({}, { get: () => "set" });
    const names = getBuiltinProviders().flatMap((provider) => findEnvKeys(provider, everything) ?? []);
    expect(names.length).toBeGreaterThan(30);
    expect(names).toContain("ANTHROPIC_API_KEY");
    expect(toKept(names)).toEqual([]);
  });

  test("has no ambient account of a provider and no access to the Temporal server", () => {
    const names = [
      "AWS_PROFILE",
      "AWS_ACCESS_KEY_ID",
      "AWS_SECRET_ACCESS_KEY",
      "AWS_SESSION_TOKEN",
      "AWS_BEARER_TOKEN_BEDROCK",
      "AWS_WEB_IDENTITY_TOKEN_FILE",
      "AWS_CONTAINER_CREDENTIALS_FULL_URI",
      "GOOGLE_APPLICATION_CREDENTIALS",
      "GOOGLE_API_KEY",
      "ANTHROPIC_IDENTITY_TOKEN_FILE",
      "ANTHROPIC_FEDERATION_RULE_ID",
      "openai_api_key",
      "OPENAI_API_KEYS",
      "MY_SERVER_APIKEY",
      "TEMPORAL_API_KEY",
      "TEMPORAL_TLS",
      "TEMPORAL_TLS_CLIENT_KEY_DATA",
      "TEMPORAL_GRPC_META_AUTHORIZATION",
      "TEMPORAL_CODEC_AUTH",
    ];
    expect(toKept(names)).toEqual([]);
  });

  test("has nothing that concerns the worker's own process", () => {
    expect(
      toKept([
        "NODE_OPTIONS",
        "NODE_COMPILE_CACHE",
        "NODE_CHANNEL_FD",
        "npm_lifecycle_event",
        "SUBAGENTS_CODEC_KEY",
      ]),
    ).toEqual([]);
  });

  test("keeps the rest", () => {
    const names = [
      "PATH",
      "HOME",
      "LANG",
      "NODE_EXTRA_CA_CERTS",
      "HTTPS_PROXY",
      "AWS_REGION",
      "GITHUB_TOKEN",
      "MONKEY",
    ];
    expect(toKept(names)).toEqual(names);
  });

  test("lets nothing wait for a person, whatever the worker's user has set", () => {
    const made = toToolEnvironment(
      { EDITOR: "vim", PAGER: "less", GIT_ASKPASS: "/asker", DISPLAY: ":0" },
      marker,
    );
    expect(made).toMatchObject({ EDITOR: "true", PAGER: "cat", GIT_ASKPASS: "", GIT_TERMINAL_PROMPT: "0" });
    expect(made).not.toHaveProperty("DISPLAY");
  });

  test("carries the marks of this call, not those of a worker inside of another one's command", () => {
    const made = toToolEnvironment(
      { SUBAGENTS_RUN: "outer", SUBAGENTS_CALL: "outer" },
      { ...marker, call: "a\0b" },
    );
    expect(made).toMatchObject({ SUBAGENTS_RUN: "/state#run", SUBAGENTS_CALL: "ab", SUBAGENTS_COMMAND: "c" });
  });

  test("is what a real command sees", async () => {
    using bash = openBash({
      ...process.env,
      OPENAI_API_KEY: "sk-1",
      TEMPORAL_API_KEY: "t-1",
      NODE_OPTIONS: "--x",
    });
    const { text } = await bash.run("env | grep -E '^(OPENAI|TEMPORAL|NODE_OPTIONS)'; echo $PAGER");
    expect(text).toBe("cat\n");
  });
});
