// Tier: no server. What the manual says of histories, against recorded ones.
import { readdir, readFile } from "node:fs/promises";
import { describe, expect, test } from "@jest/globals";

const histories = new URL("./histories/", import.meta.url);
const names = (await readdir(histories)).filter((name) => name.endsWith(".json"));
const manual = await readFile(new URL("../../docs/operating.md", import.meta.url), "utf8");
const reading = manual.slice(manual.indexOf("## Reading a history"), manual.indexOf("### Signs of trouble"));
const [ofDelegate = "", ofSession = ""] = reading.split("In a session's:");

/** Workflow tasks are told of once, with a delegate's events. */
const isOwnStep = (type: string) => type.startsWith("WORKFLOW_TASK_");

async function listTypes(kind: "delegate" | "session"): Promise<Set<string>> {
  const chosen = names.filter((name) => name.endsWith(`.${kind}.json`));
  const texts = await Promise.all(chosen.map((name) => readFile(new URL(name, histories), "utf8")));
  const events = texts.flatMap((text) => (JSON.parse(text) as { events: { eventType: string }[] }).events);
  return new Set(events.map(({ eventType }) => eventType.replace("EVENT_TYPE_", "")));
}

describe("the operator's manual names every event", () => {
  test("of a delegate's history", async () => {
    const types = [...(await listTypes("delegate"))];
    expect(types.length).toBeGreaterThan(10);
    expect(types.filter((type) => !ofDelegate.includes(`\`${type}\``))).toEqual([]);
  });

  test("of a session's history", async () => {
    const types = [...(await listTypes("session"))].filter((type) => !isOwnStep(type));
    expect(types.length).toBeGreaterThan(15);
    expect(types.filter((type) => !ofSession.includes(`\`${type}\``))).toEqual([]);
  });
});
