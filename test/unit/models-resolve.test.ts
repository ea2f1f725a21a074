import { describe, expect, test } from "@jest/globals";
import { matchFamily } from "../../activities/models/families.ts";
import { loadProvider } from "../../activities/models/providers.ts";
import { resolveModel } from "../../activities/models/resolve-model.ts";
import { resolveModelPin } from "../../activities/models/resolve-pin.ts";
import type { ModelSource } from "../../core/definition.ts";

const claude: ModelSource = { kind: "provider", provider: "anthropic", id: "claude-opus-5" };
const local: ModelSource = {
  kind: "provider",
  provider: "openai",
  id: "qwen",
  baseUrl: "http://127.0.0.1:1/v1",
};
const script: ModelSource = { kind: "script", file: "/x.json" };

describe("a model by its full name", () => {
  test("is resolved without a request, blanks aside", async () => {
    expect(await resolveModel("  anthropic/claude-opus-5 ")).toEqual({ kind: "resolved", model: claude });
    expect(await resolveModel("groq/openai/gpt-oss-120b")).toMatchObject({
      model: { provider: "groq", id: "openai/gpt-oss-120b" },
    });
  });

  test("of an unknown provider names the nearest and all", async () => {
    const { reason } = (await resolveModel("antropic/claude-opus-5")) as { reason: string };
    expect(reason).toMatch(/^no provider "antropic"\. Nearest: anthropic/);
    expect(reason).toContain("openrouter");
  });

  test("that its provider does not have names the nearest ids", async () => {
    expect(await resolveModel("anthropic/claude-opus-55")).toMatchObject({
      kind: "unresolved",
      reason: expect.stringContaining("claude-opus-5-5"),
    });
  });

  test("is taken as it is behind a base URL", async () => {
    expect(await resolveModel("openai/whatever:7b", { baseUrl: "http://127.0.0.1:8080/v1/" })).toEqual({
      kind: "resolved",
      model: { kind: "provider", provider: "openai", id: "whatever:7b", baseUrl: "http://127.0.0.1:8080/v1" },
    });
  });

  test.each(["ftp://a/v1", "127.0.0.1:80", "http://me:hunter2@host/v1", ""])(
    "with the base URL '%s' is refused",
    async (baseUrl) => {
      const resolution = await resolveModel("openai/x", { baseUrl });
      expect(resolution).toMatchObject({
        kind: "unresolved",
        reason: expect.stringContaining("http://127.0.0.1:8080/v1"),
      });
      expect(JSON.stringify(resolution)).not.toContain("hunter2");
    },
  );

  test.each(["", "sonnet", "/x", "openai/", "a b/c", "openai/x\n"])("'%s' is no full name", async (text) => {
    if (text.trim() === text)
      expect(await resolveModel(text)).toMatchObject({
        kind: "unresolved",
        reason: expect.stringContaining("<provider>/<id>"),
      });
    else expect(await resolveModel(`${text}y`)).toMatchObject({ kind: "unresolved" });
  });
});

describe("a definition's pin", () => {
  const resolve = (pin: string, sessionModel: ModelSource = claude, aliases: Record<string, string> = {}) =>
    resolveModelPin(pin, { aliases, sessionModel });

  test.each(["inherit", " Inherit "])("'%s' is the session's model, without a word", async (pin) => {
    expect(await resolve(pin, local)).toEqual({ kind: "resolved", model: local });
  });

  test("of a bare name is the newest of the only family that has it, and says so", async () => {
    const resolution = await resolve(" sonnet ");
    const newest = (await loadProvider("anthropic"))
      ?.getModels()
      .map((model) => model.id)
      .filter((id) => id.startsWith("claude-sonnet-"))
      .at(-1);
    expect(resolution).toEqual({
      kind: "resolved",
      model: { kind: "provider", provider: "anthropic", id: newest },
      note: `"sonnet" is anthropic/${newest}, the newest of anthropic's claude-sonnet`,
    });
  });

  test("of a bare id is that model", async () => {
    expect(await resolve("claude-opus-4-6")).toMatchObject({ model: { id: "claude-opus-4-6" } });
  });

  test("of an alias is what the alias says, before any family", async () => {
    expect(await resolve("Sonnet", claude, { sonnet: "openai/gpt-5.4" })).toEqual({
      kind: "resolved",
      model: { kind: "provider", provider: "openai", id: "gpt-5.4" },
      note: '"Sonnet" is openai/gpt-5.4 by its alias',
    });
    expect(await resolve("sonnet", claude, { sonnet: "openai/none" })).toMatchObject({
      kind: "unresolved",
      reason: expect.stringMatching(/^alias sonnet: provider openai has no model/),
    });
  });

  test("that several families have is refused with all of them", async () => {
    const gemini: ModelSource = { kind: "provider", provider: "google", id: "gemini-2.5-pro" };
    expect(await resolve("flash", gemini)).toMatchObject({
      kind: "unresolved",
      reason: expect.stringContaining("gemini-flash, gemini-flash-lite"),
    });
  });

  test.each(["", "gpt-5.4", "sonnet-17", "claude"])(
    "'%s' of another or no family is never another model",
    async (pin) => {
      expect(await resolve(pin)).toMatchObject({ kind: "unresolved" });
    },
  );

  test("in a session of a script is the script, and says so", async () => {
    expect(await resolve("anthropic/claude-opus-5", script)).toEqual({
      kind: "resolved",
      model: script,
      note: '"anthropic/claude-opus-5" is played by the session\'s script',
    });
    expect(await resolve("inherit", script)).toEqual({ kind: "resolved", model: script });
  });

  test("in a session with a base URL stays with that server, or is refused", async () => {
    expect(await resolve("openai/other", local)).toMatchObject({
      model: { id: "other", baseUrl: "http://127.0.0.1:1/v1" },
      note: expect.stringContaining("base URL"),
    });
    expect(await resolve("anthropic/claude-opus-5", local)).toEqual({ kind: "resolved", model: claude });
    expect(await resolve("qwen", local)).toMatchObject({
      kind: "unresolved",
      reason: expect.stringContaining("base URL"),
    });
  });
});

describe("the newest of a family", () => {
  test.each<[string, string[], string]>([
    [
      "sonnet",
      ["claude-sonnet-4-5", "claude-sonnet-4-5-20250929", "claude-sonnet-4-20250514"],
      "claude-sonnet-4-5",
    ],
    ["sonnet", ["claude-sonnet-5", "claude-sonnet-5-5", "claude-sonnet-4-6"], "claude-sonnet-5-5"],
    ["sonnet-5", ["claude-sonnet-5", "claude-sonnet-5-5"], "claude-sonnet-5"],
    ["sonnet-4.5", ["claude-sonnet-4-5-20250929", "claude-sonnet-4-6"], "claude-sonnet-4-5-20250929"],
    ["pro", ["gemini-9-pro-preview", "gemini-10-pro", "gemini-10-pro-preview"], "gemini-10-pro"],
    ["flash", ["gemini-3-flash", "gemini-flash-latest"], "gemini-flash-latest"],
    ["gpt", ["gpt-5", "gpt-5.4", "gpt-5.4-mini"], "gpt-5.4"],
    ["medium", ["mistral-medium-2505", "mistral-medium-2604"], "mistral-medium-2604"],
  ])("%s of %j is %s", (bare, ids, expected) => {
    expect(matchFamily(bare, ids)).toMatchObject({ kind: "model", id: expected });
    expect(matchFamily(bare, ids.toReversed())).toMatchObject({ kind: "model", id: expected });
  });
});
