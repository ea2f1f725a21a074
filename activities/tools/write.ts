import { z } from "zod";
import { changeFile, toStaleReason } from "../files/change-file.ts";
import { Refusal, showPath } from "../paths/refusal.ts";
import { answering, joinLines, showBytes } from "./answer.ts";
import { showInWorkspace, toAllowedPath } from "./gate.ts";
import type { Tool, ToolContext } from "./tool.ts";

/** No model writes more in one call, and a file of this size is still read, hashed and compared in a moment. */
export const MAX_CONTENT_BYTES = 10 * 1024 * 1024;

const input = z.object({
  path: z.string().describe("File, relative to the workspace or absolute. Missing folders are created."),
  content: z.string().describe("The whole new content, written as it is."),
});

/** Creates a file or replaces its whole content. */
export const writeTool: Tool<typeof input> = {
  name: "Write",
  description: [
    "Create a file, or replace everything in it, in one step: nobody ever sees a half-written file, and its mode is kept.",
    `Content goes up to ${MAX_CONTENT_BYTES / 1024 ** 2} MB and is written exactly as given, as UTF-8.`,
    "Refused, with nothing written, if another delegate or somebody else changed the file since you read it: Read it again, then decide.",
    "To change a part of a file use Edit, which goes well together with others' changes. A symbolic link stays one: what it leads to is written.",
  ].join(" "),
  input,
  toTarget: ({ path }) => path,
  execute: (call, context, signal) => answering(signal, () => writeFile(call, context, signal)),
};

async function writeFile(
  { path, content }: z.infer<typeof input>,
  context: ToolContext,
  signal: AbortSignal,
) {
  const bytes = toContentBytes(content, "content");
  const { real, note } = await toAllowedPath(path, context);
  if (path.endsWith("/")) throw new Refusal(`${showPath(path)} names a directory; Write needs a file`);
  let isNew = true;
  await changeFile({
    owner: context,
    real,
    signal,
    assertOwner: context.assertOwner,
    toContent: (current, history) => {
      isNew = current === undefined;
      const reason = current && toStaleReason(current, history, context.actor);
      if (reason === undefined) return bytes;
      throw new Refusal(
        `${showPath(real)} was ${reason}; nothing was written. Read it again, then write or edit it`,
      );
    },
  });
  const verb = isNew ? "created" : "replaced";
  return joinLines(`${verb} ${showInWorkspace(real, context)}, ${showBytes(bytes.length)}`, note);
}

/**
 * Encode a text that is to become a file's content.
 *
 * @throws Refusal for half a surrogate pair, which UTF-8 can't hold, and above 10 MB.
 */
export function toContentBytes(text: string, field: string): Buffer {
  if (!text.isWellFormed()) {
    throw new Refusal(`${field} holds half a surrogate pair, which no UTF-8 file can; nothing was written`);
  }
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= MAX_CONTENT_BYTES) return bytes;
  throw new Refusal(
    `${field} has ${showBytes(bytes.length)}, at most ${showBytes(MAX_CONTENT_BYTES)} are written`,
  );
}
