import { z } from "zod";
import { recordSeen } from "../files/records.ts";
import { MAX_HASHED_BYTES, startVersion, toContentVersion, toStatVersion } from "../files/version.ts";
import { type OpenedFile, openRegularFile } from "../paths/open-file.ts";
import { Refusal, showPath, toErrorCode } from "../paths/refusal.ts";
import { answering, joinLines, MAX_ANSWER_BYTES, showBytes } from "./answer.ts";
import { BYTE_ORDER_MARK, SAMPLE_BYTES, toBinaryKind } from "./content-kind.ts";
import { toAllowedPath } from "./gate.ts";
import { LinePage } from "./line-page.ts";
import { describeMissing } from "./near-names.ts";
import { showPage } from "./read-text.ts";
import type { Tool, ToolContext } from "./tool.ts";

const DEFAULT_LINES = 2_000;
const MAX_LINES = 10_000;
const CHUNK_BYTES = 1024 * 1024;
/** Files of /proc say that they are empty: this much of such a file is read. */
const MAX_UNSIZED_BYTES = MAX_HASHED_BYTES;
const MAX_SECONDS = 20;

const input = z.object({
  path: z.string().describe("File, relative to the workspace or absolute."),
  offset: z.number().int().min(0).max(1e12).optional().describe("First line to show, from 1. Default 1."),
  limit: z
    .number()
    .int()
    .min(1)
    .max(MAX_LINES)
    .optional()
    .describe(`Lines to show, ${DEFAULT_LINES} by default, at most ${MAX_LINES}.`),
});

/** Shows one page of a text file with line numbers. */
export const readTool: Tool<typeof input> = {
  name: "Read",
  description: [
    "Show a text file, each line after its number and a tab.",
    `One call gives at most ${DEFAULT_LINES} lines and ${MAX_ANSWER_BYTES / 1024} KB; the last line of the answer says how to go on with \`offset\`.`,
    "Files of any size work. Binary files, directories and special files are only named; bytes that are not UTF-8 are shown as \uFFFD and counted.",
    "Read a file before you overwrite it: Write refuses if somebody else changed it since.",
  ].join(" "),
  input,
  toTarget: ({ path }) => path,
  execute: (call, context, signal) => answering(signal, () => readPage(call, context, signal)),
};

async function readPage(call: z.infer<typeof input>, context: ToolContext, signal: AbortSignal) {
  const { real, note } = await toAllowedPath(call.path, context);
  const { handle, stats } = await openRegularFile(real).catch(async (error: unknown) => {
    if (toErrorCode(error) !== "ENOENT") throw error;
    throw new Refusal(joinLines(await describeMissing(real), note));
  });
  try {
    const page = new LinePage({
      offset: Math.max(1, call.offset ?? 1),
      limit: call.limit ?? DEFAULT_LINES,
      maxBytes: MAX_ANSWER_BYTES,
    });
    const scan = await scanFile({ handle, stats }, page, real, signal);
    await recordSeen(context, real, scan.version);
    return joinLines(
      showPage(page, { ...scan, offset: Math.max(1, call.offset ?? 1), size: Number(stats.size) }),
      note,
    );
  } finally {
    await handle.close();
  }
}

interface Scan {
  version: string;
  isAtEnd: boolean;
  hasByteOrderMark: boolean;
}

/** Read as far as the page needs, and to the end where the file is small enough to know its version by content. */
async function scanFile(
  { handle, stats }: OpenedFile,
  page: LinePage,
  real: string,
  signal: AbortSignal,
): Promise<Scan> {
  const size = Number(stats.size);
  const end = size || MAX_UNSIZED_BYTES;
  const hash = size <= MAX_HASHED_BYTES ? startVersion() : undefined;
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end));
  const deadline = performance.now() + MAX_SECONDS * 1_000;
  let position = 0;
  let hasByteOrderMark = false;
  let isAtEnd = end === 0;
  while (position < end && (hash !== undefined || !page.isFull)) {
    signal.throwIfAborted();
    const length = Math.min(buffer.length, end - position);
    const chunk = buffer.subarray(0, await readSome(handle, buffer, length, size === 0 ? null : position));
    isAtEnd = chunk.length === 0;
    if (isAtEnd) break;
    if (position === 0) {
      refuseBinary(chunk.subarray(0, SAMPLE_BYTES), real, size);
      hasByteOrderMark = chunk.subarray(0, 3).equals(BYTE_ORDER_MARK);
    }
    hash?.update(chunk);
    page.push(chunk);
    position += chunk.length;
    if (performance.now() > deadline) throw toTooSlow(real, page, position);
  }
  isAtEnd ||= position >= end;
  if (isAtEnd) page.end();
  return { version: hash ? toContentVersion(hash) : toStatVersion(stats), isAtEnd, hasByteOrderMark };
}

async function readSome(
  handle: OpenedFile["handle"],
  buffer: Buffer,
  length: number,
  position: number | null,
): Promise<number> {
  try {
    return (await handle.read(buffer, 0, length, position)).bytesRead;
  } catch (error) {
    // A file of /proc that has nothing to say yet; it was opened not to be waited for.
    if (toErrorCode(error) === "EAGAIN") return 0;
    throw error;
  }
}

function refuseBinary(sample: Uint8Array, real: string, size: number): void {
  const kind = toBinaryKind(sample);
  if (kind === undefined) return;
  throw new Refusal(`${showPath(real)} is not UTF-8 text: ${kind}, ${showBytes(size)}. It is not shown.`);
}

function toTooSlow(real: string, page: LinePage, position: number): Refusal {
  return new Refusal(
    `stopped after ${MAX_SECONDS} s: ${showPath(real)} was read up to line ${page.lineCount}, byte ${position}; Grep finds a place in it faster`,
  );
}
