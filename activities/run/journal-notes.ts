import type { JournalEntry, JournalRetry } from "../journal/journal-entry.ts";
import type { ThreadEvent } from "../thread/protocol.ts";

/** Makes journal entries of events, with what only this side of the threads knows: denials, and requests that failed. */
export class JournalNotes {
  readonly #denied = new Set<string>();
  #retries: JournalRetry[] = [];

  addDenied(callId: string): void {
    this.#denied.add(callId);
  }

  /** A request failed and is made again; written with the answer that comes in the end. */
  addRetry(retry: JournalRetry): void {
    this.#retries.push(retry);
  }

  /** Undefined for an event that is not written down. */
  toEntry(event: ThreadEvent): JournalEntry | undefined {
    switch (event.type) {
      case "message_end":
        return this.#toMessage(event);
      case "tool_execution_end": {
        const { result, durationMs, callId } = event;
        return {
          kind: "tool-end",
          result,
          ...(durationMs === undefined ? {} : { durationMs }),
          ...(this.#denied.delete(callId) ? { outcome: "denied" as const } : {}),
        };
      }
      case "turn_end":
        return { kind: "turn-end" };
      default:
        return undefined;
    }
  }

  #toMessage({ message }: Extract<ThreadEvent, { type: "message_end" }>): JournalEntry | undefined {
    if (message.role !== "user" && message.role !== "assistant") return undefined;
    if (message.role === "user" || this.#retries.length === 0) return { kind: "message", message };
    const retries = this.#retries;
    this.#retries = [];
    return { kind: "message", message, retries };
  }
}
