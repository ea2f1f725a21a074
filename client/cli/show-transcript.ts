import { bound } from "../../core/text.ts";
import type { TranscriptItem } from "../../core/transcript.ts";
import { openTranscript } from "../../worker/transcript.ts";
import { CliError } from "./cli-error.ts";
import { toStepText } from "./durations.ts";
import { exitCodes } from "./exit-codes.ts";
import { withTimes } from "./json-times.ts";
import type { Showing } from "./show.ts";
import { isRunOf } from "./show-main.ts";

/** Characters of one item that a person is shown unless all are asked for. */
const MAX_ITEM_CHARACTERS = 2000;

/** Show a whole conversation as it was written down: messages, calls and results, one after another as they are read. */
export async function showTranscript({ sessionId, flags, host }: Showing, what: string): Promise<void> {
  const turn = Number(/^turn-(\d+)$/.exec(what)?.[1] ?? 0);
  const chain = turn > 0 ? "main" : what;
  const items = await openTranscript(host.stateFolder, sessionId, chain).catch((error) => {
    throw new CliError("Transcript.Unreadable", error.message, exitCodes.failed);
  });
  if (items === undefined)
    throw toMissing(what, host.output.toCommand(["show", sessionId]), host.stateFolder.root);
  const limit = flags.full ? Number.POSITIVE_INFINITY : MAX_ITEM_CHARACTERS;
  let isIn = turn === 0;
  for await (const item of items) {
    host.interruption.signal.throwIfAborted();
    if (item.kind === "attempt" && turn > 0) isIn = isRunOf(item.runId, turn);
    if (!isIn) continue;
    const { kind, ...rest } = item;
    host.output.event(withTimes({ type: "transcript", item: kind, ...rest }));
    host.output.print(toItemText(item, limit));
  }
}

function toMissing(what: string, command: string, root: string): CliError {
  return new CliError(
    "Transcript.NotHere",
    `this host's state folder ${root} has no transcript of ${what} of this session: it lies where its worker ran, or there is no such run; \`${command}\` lists them`,
  );
}

function toTime(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** An item as a person reads it, bounded; the mark of a cut says how much is left out. */
export function toItemText(item: TranscriptItem, limit: number): string {
  const at = item.atMs === undefined ? "" : ` · ${toTime(item.atMs)}`;
  const cut = (text: string) =>
    text.length <= limit
      ? text
      : bound(text, limit, (leftOut) => `\n[${leftOut} characters left out; --full shows all]`);
  switch (item.kind) {
    case "attempt":
      return `=== ${item.runId}, attempt ${item.attempt}${item.worker === undefined ? "" : `, worker ${item.worker}`}${at}`;
    case "user":
      return `--- user${at}\n${cut(item.text)}`;
    case "assistant":
      return [
        `--- assistant, ${item.model}, ${item.stopReason}${at}`,
        ...item.retries.map(
          ({ nextTry, waitMs, code }) =>
            `[the provider failed${code === undefined ? "" : ` (${code})`}; try ${nextTry} after ${toStepText(waitMs)}]`,
        ),
        ...(item.thinking === "" ? [] : [`[thinking] ${cut(item.thinking)}`]),
        ...(item.text === "" ? [] : [cut(item.text)]),
        ...item.calls.map(
          ({ callId, tool, input }) => `[call ${callId}] ${tool} ${cut(JSON.stringify(input) ?? "")}`,
        ),
      ].join("\n");
    case "tool-start":
      return `--- ${item.callId} was allowed and begins${at}`;
    case "tool-end": {
      const took = item.durationMs === undefined ? "" : `, ${toStepText(item.durationMs)}`;
      return `--- result of ${item.tool} ${item.callId}: ${item.outcome}${took}${at}\n${cut(item.text)}`;
    }
    case "turn-end":
      return `--- end of turn${at}`;
    case "end":
      return `=== ${item.runId} ${item.status}${item.error === undefined ? "" : ` (${item.error.code}: ${item.error.message})`}${at}`;
    case "damaged":
      return `--- line ${item.line} of the transcript is damaged`;
  }
}
