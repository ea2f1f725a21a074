import { isUtf8 } from "node:buffer";
import { z } from "zod";
import { type CurrentFile, changeFile, toStaleReason } from "../files/change-file.ts";
import { Refusal, showPath } from "../paths/refusal.ts";
import { answering, joinLines, showBytes } from "./answer.ts";
import { showInWorkspace, toAllowedPath } from "./gate.ts";
import { describeNearLine } from "./near-line.ts";
import { describeMissing } from "./near-names.ts";
import { findText, type Match, replaceText, toLineNumber } from "./replace-text.ts";
import type { Tool, ToolContext } from "./tool.ts";
import { MAX_CONTENT_BYTES, toContentBytes } from "./write.ts";

const MAX_LINES_NAMED = 10;

const input = z.object({
  path: z.string().describe("File, relative to the workspace or absolute."),
  oldText: z.string().describe("Text to replace, exactly as in the file, without line numbers."),
  newText: z.string().describe("What to put there; empty to delete."),
  replaceAll: z.boolean().optional().describe("Replace every occurrence. Default false: exactly one."),
});
type Call = z.infer<typeof input>;

/** Replaces a text within a file. */
export const editTool: Tool<typeof input> = {
  name: "Edit",
  description: [
    "Replace `oldText` by `newText` in a UTF-8 file.",
    "`oldText` must occur exactly once (add lines around it until it does), or set `replaceAll`.",
    "LF in your text matches CR LF in the file; line ends, byte order mark and mode of the file are kept.",
    "The file is looked at in the moment of the change, so edits of other delegates elsewhere in it are kept too.",
    `Files up to ${MAX_CONTENT_BYTES / 1024 ** 2} MB.`,
  ].join(" "),
  input,
  toTarget: ({ path }) => path,
  execute: (call, context, signal) => answering(signal, () => editFile(call, context, signal)),
};

async function editFile(call: Call, context: ToolContext, signal: AbortSignal): Promise<string> {
  refuseEmpty(call);
  toContentBytes(call.newText, "newText");
  const { real, note } = await toAllowedPath(call.path, context);
  const missing = new Missing();
  let summary = "";
  try {
    await changeFile({
      owner: context,
      real,
      signal,
      assertOwner: context.assertOwner,
      toContent: (current, history) => {
        if (current === undefined) throw missing;
        const content = toEditableText(current, real);
        const reason = toStaleReason(current, history, context.actor);
        const matches = findMatches(content, call, real, reason);
        summary = describeMatches(content, matches);
        if (reason !== undefined) summary += `; the file was ${reason}, and that change is kept`;
        return toNewContent(content, call, matches, real);
      },
    });
  } catch (error) {
    if (error !== missing) throw error;
    throw new Refusal(joinLines(`${await describeMissing(real)}; Write creates a file`, note));
  }
  return joinLines(`edited ${showInWorkspace(real, context)}: ${summary}`, note);
}

class Missing extends Error {}

function refuseEmpty({ oldText, newText }: Call): void {
  if (oldText === "") throw new Refusal("oldText is empty; use Write to create or to replace a whole file");
  if (oldText === newText) throw new Refusal("oldText and newText are the same; nothing was changed");
}

function toEditableText({ content, stats }: CurrentFile, real: string): string {
  if (content === undefined || content.length > MAX_CONTENT_BYTES) {
    throw new Refusal(
      `${showPath(real)} has ${showBytes(stats.size)}; Edit takes files up to ${showBytes(MAX_CONTENT_BYTES)}`,
    );
  }
  if (isUtf8(content)) return content.toString("utf8");
  throw new Refusal(
    `${showPath(real)} is not UTF-8 throughout, and editing it as text would damage it; nothing was written`,
  );
}

function findMatches(content: string, call: Call, real: string, reason: string | undefined): Match[] {
  const matches = findText(content, call.oldText);
  if (matches.length === 0) {
    const changed = reason && `the file was ${reason}: Read it again`;
    const hint = describeNearLine(content, call.oldText);
    throw new Refusal(
      `oldText is not in ${showPath(real)}; nothing was written${[changed, hint].map((part) => (part ? `; ${part}` : "")).join("")}`,
    );
  }
  if (matches.length > 1 && !call.replaceAll) {
    const lines = matches.slice(0, MAX_LINES_NAMED).map(({ start }) => toLineNumber(content, start));
    const more = matches.length > lines.length ? ", …" : "";
    throw new Refusal(
      `oldText occurs ${matches.length} times in ${showPath(real)} (lines ${lines.join(", ")}${more}); nothing was written: give more lines around it, or set replaceAll`,
    );
  }
  return matches;
}

function toNewContent(content: string, call: Call, matches: Match[], real: string): Buffer {
  const grown = content.length + matches.length * (call.newText.length - call.oldText.length);
  if (grown > MAX_CONTENT_BYTES) {
    throw new Refusal(`the result would be above ${showBytes(MAX_CONTENT_BYTES)}; nothing was written`);
  }
  const edited = replaceText(content, { ...call, matches });
  if (edited === content) throw new Refusal(`${showPath(real)} already reads so; nothing was changed`);
  return toContentBytes(edited, "the result");
}

function describeMatches(content: string, matches: Match[]): string {
  const first = toLineNumber(content, matches[0]?.start ?? 0);
  if (matches.length === 1) return `1 replacement, line ${first}`;
  return `${matches.length} replacements, the first in line ${first}`;
}
