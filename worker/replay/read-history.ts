import proto from "@temporalio/proto";
import { type History, HistoryError } from "./history.ts";
import { type MessageType, restoreMessage } from "./restore-json.ts";

const { History: Message } = proto.temporal.api.history.v1;
/** The classes of messages are their own descriptions; their typings leave that out. */
const historyType = Message as unknown as MessageType;

/**
 * Read a history as Temporal Web downloads it, in any of its three forms, as `temporal workflow show --output json` or `jsonl` prints it, or as the
 * server's HTTP API answers.
 *
 * @throws HistoryError that says what it is instead.
 */
export function parseHistory(bytes: Uint8Array): History {
  try {
    return parse(bytes);
  } catch (error) {
    if (!/Maximum call stack/.test(String(error))) throw error;
    throw new HistoryError("it is nested too deeply to be a history");
  }
}

function parse(bytes: Uint8Array): History {
  const events = findEvents(decode(bytes).trim());
  for (const [index, event] of events.entries()) checkShape(event, index);
  try {
    return Message.fromObject(restoreMessage(historyType, { events }));
  } catch (error) {
    throw new HistoryError(`its events can't be read: ${error instanceof Error ? error.message : error}`);
  }
}

/** PowerShell's redirection writes UTF-16. */
function decode(bytes: Uint8Array): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? "utf-16le" : "utf-8").decode(bytes);
}

function findEvents(text: string): unknown[] {
  if (text === "") throw new HistoryError("it is empty");
  const parts = parseParts(text);
  const events = parts.flatMap(toEvents);
  if (parts.some((part) => isObject(part) && part.nextPageToken)) {
    throw new HistoryError("it is one page of a longer history: fetch all of it");
  }
  if (events.length === 0) throw new HistoryError("it has no events");
  return events;
}

/** One JSON value, or one a line. */
function parseParts(text: string): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch (error) {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    try {
      if (lines.length > 1) return lines.map((line) => JSON.parse(line));
    } catch {
      // What is wrong with the whole says more.
    }
    throw new HistoryError(explainSyntax(text, error));
  }
}

function explainSyntax(text: string, error: unknown): string {
  if (!/^[{[]/.test(text)) return "it is not JSON";
  const { message } = error as Error;
  return /Unexpected end|Unterminated|after (?:array|property)|Expected .* at position/.test(message) &&
    !/[}\]]$/.test(text)
    ? "it is cut off: its JSON does not end"
    : `it is not JSON: ${message}`;
}

function toEvents(part: unknown): unknown[] {
  if (Array.isArray(part)) return part;
  if (isObject(part)) {
    if (Array.isArray(part.events)) return part.events;
    if (isObject(part.history)) return toEvents(part.history);
    if ("eventId" in part) return [part];
  }
  throw new HistoryError("it is JSON, but no history: it has no `events`");
}

function checkShape(event: unknown, index: number): void {
  if (isObject(event) && "eventId" in event) {
    if (Object.keys(event).some((key) => key.endsWith("EventAttributes"))) return;
    throw new HistoryError(
      `event ${event.eventId} has no attributes: what Temporal Web shows is not what it downloads; use its download, or temporal workflow show --output json`,
    );
  }
  throw new HistoryError(`entry ${index + 1} of its events is no event`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
