// Tier: no server. A history replays in every form in which tools write it, and what is no history is called by its name.
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "@jest/globals";
import protoUtils from "@temporalio/common/lib/proto-utils.js";
import proto from "@temporalio/proto";
import { readHistories } from "../../worker/replay/history-files.ts";
import { parseHistory } from "../../worker/replay/read-history.ts";
import { type HistorySource, replayHistories } from "../../worker/replay/replay-histories.ts";
import { installReplayRuntime } from "../../worker/replay/replay-runtime.ts";
import { bundleWorkflows } from "../../worker/workflow-bundle.ts";
import { type HistoryJson, loadHistory, replayText, toHistoryPath } from "../support/histories.ts";

const { History } = proto.temporal.api.history.v1;
installReplayRuntime();
const session = await loadHistory("waited-and-listed.session");
const whole = JSON.stringify(session);

/** Change every value of a JSON document, innermost first. */
function change(value: unknown, by: (value: unknown, key: string) => unknown, key = ""): unknown {
  if (Array.isArray(value))
    return by(
      value.map((entry) => change(entry, by)),
      key,
    );
  if (typeof value !== "object" || value === null) return by(value, key);
  const entries = Object.entries(value).map(([name, entry]) => [name, change(entry, by, name)]);
  return by(Object.fromEntries(entries), key);
}

const isPayload = (value: unknown): value is { metadata: Record<string, string>; data?: string } =>
  typeof value === "object" && value !== null && "metadata" in value;
const decode = (text = "") => Buffer.from(text, "base64").toString("utf8");

/** As Temporal Web downloads it "human readable". */
function toReadable(history: HistoryJson): unknown {
  return change(history, (value) => {
    if (!isPayload(value)) return value;
    const metadata = Object.fromEntries(
      Object.entries(value.metadata).map(([key, text]) => [key, decode(text)]),
    );
    return { metadata, data: value.data === undefined ? null : JSON.parse(decode(value.data)) };
  });
}

/** As older versions wrote it: values in place of payloads. */
function toValues(history: HistoryJson): unknown {
  return change(history, (value) =>
    isPayload(value) ? (value.data === undefined ? null : JSON.parse(decode(value.data))) : value,
  );
}

/** As older versions wrote enumerations. */
function toOldEnums(history: HistoryJson): unknown {
  const prefixes =
    /^(EVENT_TYPE|TASK_QUEUE_KIND|PARENT_CLOSE_POLICY|WORKFLOW_ID_REUSE_POLICY|RETRY_STATE|TIMEOUT_TYPE)_/;
  return change(history, (value) => {
    if (typeof value !== "string" || !prefixes.test(value)) return value;
    return value
      .replace(prefixes, "")
      .toLowerCase()
      .replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  });
}

const forms: Record<string, string | Uint8Array | object> = {
  "a byte order mark": `\ufeff${whole}`,
  "lines that end as on Windows": JSON.stringify(session, null, 2).replaceAll("\n", "\r\n"),
  "UTF-16": Buffer.from(`\ufeff${whole}`, "utf16le"),
  "one event a line": session.events.map((event) => JSON.stringify(event)).join("\n"),
  "pages of events, one a line": `${JSON.stringify({ events: session.events.slice(0, 9) })}\n${JSON.stringify({ events: session.events.slice(9) })}\n`,
  "an answer of the HTTP API": { history: session, nextPageToken: null },
  "an array of events": session.events,
  "payloads written readable": toReadable(session) as object,
  "payloads written as their values": toValues(session) as object,
  "enumerations without their prefix": toOldEnums(session) as object,
  "numbers for ids": { events: session.events.map((event, index) => ({ ...event, eventId: index + 1 })) },
  "a field that no one knows": {
    events: session.events.map((event) => ({ ...event, fromTheFuture: { a: 1 } })),
  },
};

test.each(Object.keys(forms))("a history replays that is written with %s", async (name) => {
  expect(await replayText(forms[name] ?? "")).toMatchObject({
    status: "replays",
    facts: { workflowType: "sessionWorkflow", events: session.events.length, ended: "completed" },
  });
});

test("what the SDK's own reader makes of a recorded history is made of it here", async () => {
  for (const name of await readdir(path.dirname(toHistoryPath("")))) {
    const text = await readFile(toHistoryPath(path.basename(name, ".json")), "utf8");
    const expected = protoUtils.historyFromJSON(JSON.parse(text));
    expect(History.encode(parseHistory(Buffer.from(text))).finish()).toEqual(
      History.encode(expected).finish(),
    );
  }
});

test.each([
  [{ eventTime: "2026-01-31T13:00:00.000000001+01:00" }, { eventTime: { seconds: "1769860800", nanos: 1 } }],
  [{ event_time: "1969-12-31T23:59:59.5Z" }, { eventTime: { seconds: "-1", nanos: 500_000_000 } }],
  [
    { timerStartedEventAttributes: { startToFireTimeout: "-1.5s" } },
    { timerStartedEventAttributes: { startToFireTimeout: { seconds: "-1", nanos: -500_000_000 } } },
  ],
  [{ taskId: "9223372036854775807" }, { taskId: "9223372036854775807" }],
  [{ eventType: "EVENT_TYPE_OF_LATER", version: null }, {}],
])("%j is read in full", (fields, expected) => {
  const event = { eventId: "1", timerStartedEventAttributes: {}, ...fields };
  const { events } = parseHistory(Buffer.from(JSON.stringify([event])));
  expect(JSON.parse(JSON.stringify(events))).toEqual([
    expect.objectContaining({ timerStartedEventAttributes: {}, eventId: "1", ...expected }),
  ]);
});

test.each([
  [{ eventId: "one" }, "HistoryEvent.eventId: expected a whole number"],
  [{ taskId: "9223372036854775808" }, "HistoryEvent.taskId: out of range"],
  [{ eventTime: "yesterday" }, "expected a time such as 2026-01-31T12:00:00Z"],
  [{ workerMayIgnore: "yes" }, "HistoryEvent.workerMayIgnore: expected bool"],
  [{ timerStartedEventAttributes: { startToFireTimeout: 5 } }, "expected a duration such as 1.5s"],
  [{ timerFiredEventAttributes: {} }, "timerStartedEventAttributes is there too"],
  [{ timerStartedEventAttributes: [] }, "expected object"],
  [{ links: {} }, "HistoryEvent.links: expected array"],
  [{ userMetadata: { summary: { metadata: { encoding: "%" } } } }, "expected bytes"],
])("%j is refused by the field's name", (fields, reason) => {
  const event = { eventId: "1", timerStartedEventAttributes: {}, ...fields };
  expect(() => parseHistory(Buffer.from(JSON.stringify([event])))).toThrow(reason);
});

test("readable payloads mean the same as those in base64", () => {
  const toComparable = (history: unknown) => parseHistory(Buffer.from(JSON.stringify(history)));
  expect(toComparable(toReadable(session))).toEqual(toComparable(session));
  expect(toComparable(toOldEnums(session))).toEqual(toComparable(session));
});

test.each([
  ["", "it is empty"],
  ["  \n", "it is empty"],
  [whole.slice(0, whole.length / 2), "it is cut off: its JSON does not end"],
  [JSON.stringify(session, null, 2).slice(0, 5_000), "it is cut off: its JSON does not end"],
  ["Progress:\n  ID  Time", "it is not JSON"],
  ['{"events": [}', "it is not JSON: "],
  ["{}", "it is JSON, but no history"],
  ["[]", "it has no events"],
  ['{"events":[]}', "it has no events"],
  ['{"events":[1]}', "entry 1 of its events is no event"],
  ["17", "it is JSON, but no history"],
  ["null", "it is JSON, but no history"],
  [JSON.stringify({ ...session, nextPageToken: "abc" }), "it is one page of a longer history"],
  ['{"events":[{"eventId":"1","name":"WorkflowExecutionStarted"}]}', "event 1 has no attributes"],
  ['{"events":[{"eventId":{},"fooEventAttributes":{}}]}', "its events can't be read: "],
])("%.30j can't be read, and why is said", (content, reason) => {
  expect(() => parseHistory(Buffer.from(content))).toThrow(reason);
});

test("folders are read with all that they hold, and one bad file does not end the others", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "histories-"));
  await mkdir(path.join(folder, "more"));
  await mkdir(path.join(folder, "empty"));
  await writeFile(path.join(folder, "b.json"), whole);
  await writeFile(path.join(folder, "a.json"), "no");
  await writeFile(path.join(folder, "more", "c.jsonl"), whole);
  await writeFile(path.join(folder, "notes.md"), "no history");
  const places = [
    folder,
    path.join(folder, "empty"),
    path.join(folder, "none.json"),
    toHistoryPath("stopped.session"),
  ];
  const outcomes = [];
  const options = { workflowBundle: await bundleWorkflows() };
  for await (const { name, status, text } of replayHistories(readHistories(...places), options)) {
    outcomes.push([path.basename(name), status, text]);
  }
  await rm(folder, { recursive: true });
  expect(outcomes).toEqual([
    ["a.json", "unreadable", "it is not JSON"],
    ["b.json", "replays", "replays"],
    ["c.jsonl", "replays", "replays"],
    ["empty", "unreadable", "it is a folder without histories: there is no .json in it"],
    ["none.json", "not-found", "there is no such file"],
    ["stopped.session.json", "replays", "replays"],
  ]);
});

test("sources may be given as they are at hand, and none is an answer too", async () => {
  const options = { workflowBundle: await bundleWorkflows() };
  const sources: HistorySource[] = [];
  const outcomes = [];
  for await (const outcome of replayHistories(sources, options)) outcomes.push(outcome);
  expect(outcomes).toEqual([]);
});

test("each file is read once whatever links lead to it, and what is no regular file is said without waiting for it", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "histories-"));
  const to = (name: string) => path.join(folder, name);
  await mkdir(to("a"));
  await writeFile(to("a/one.json"), whole);
  await symlink("../a", to("a/again"));
  await symlink(".", to("loop"));
  await symlink("a/one.json", to("one-more.json"));
  await symlink("self.json", to("self.json"));
  execFileSync("mkfifo", [to("pipe.json")]);
  await writeFile(Buffer.concat([Buffer.from(to("n")), Buffer.from([0xff]), Buffer.from(".json")]), whole);
  const sources = [];
  for await (const source of readHistories(folder, to("pipe.json"), to("one-more.json"), "/dev/null")) {
    const name = path.relative(folder, source.name);
    sources.push([name, "error" in source ? source.error.message : source.history.events?.length]);
  }
  await rm(folder, { recursive: true });
  const pipe = "it is a named pipe (FIFO), not a regular file";
  expect(sources).toEqual([
    ["a/one.json", session.events.length],
    ["n\ufffd.json", "its name is not UTF-8: rename it to replay it"],
    ["pipe.json", pipe],
    ["self.json", "it is a link that leads to itself"],
    ["pipe.json", pipe],
    ["one-more.json", session.events.length],
    [path.relative(folder, "/dev/null"), "it is a character device, not a regular file"],
  ]);
});

test("what is nested without end is called so", () => {
  const nest = (open: string, inner: string, close: string) =>
    `${open.repeat(100_000)}${inner}${close.repeat(100_000)}`;
  for (const text of [
    nest('{"history":', "{}", "}"),
    whole.replace(
      '"workflowExecutionStartedEventAttributes":{',
      `$&"continuedFailure":${nest('{"cause":', "{}", "}")},`,
    ),
  ]) {
    expect(() => parseHistory(Buffer.from(text))).toThrow("it is nested too deeply to be a history");
  }
});
