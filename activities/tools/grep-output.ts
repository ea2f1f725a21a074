import { MAX_ANSWER_BYTES } from "./answer.ts";
import { decodeUtf8 } from "./line-page.ts";
import { toFoundPath } from "./ripgrep.ts";
import type { ToolContext } from "./tool.ts";

export const MAX_LINE_BYTES = 500;

const NUL = 0;
const LINE_FEED = 0x0a;
/** Lines of ripgrep about a file that turned out to be binary; they have no NUL after the path. */
const BINARY_NOTICE = /: (WARNING: stopped searching binary file|binary file matches)/;

export interface FoundLine {
  real: string;
  number: number;
  text: string;
}

/** Takes ripgrep's output as it comes, `path NUL number:text LF`, and keeps what is wanted, within the bounds. */
export class FoundLines {
  readonly lines: FoundLine[] = [];
  binaryFiles = 0;
  limit: string;
  readonly #root: string;
  readonly #context: ToolContext;
  readonly #maxLines: number;
  readonly #isWanted: (relative: string) => boolean;
  #rest: Buffer = Buffer.alloc(0);
  #bytes = 0;

  constructor(root: string, context: ToolContext, maxLines: number, isWanted: (relative: string) => boolean) {
    this.#root = root;
    this.#context = context;
    this.#maxLines = maxLines;
    this.#isWanted = isWanted;
    this.limit = `${maxLines} lines`;
  }

  /** Answers false when the bounds are reached. */
  push(chunk: Buffer): boolean {
    const data = Buffer.concat([this.#rest, chunk]);
    let start = 0;
    for (;;) {
      const nul = data.indexOf(NUL, start);
      const end = nul === -1 ? -1 : data.indexOf(LINE_FEED, nul);
      if (end === -1) break;
      if (!this.#take(data.toString("utf8", start, nul), data.subarray(nul + 1, end))) return false;
      start = end + 1;
    }
    this.#rest = data.subarray(start);
    this.#countNotices(this.#rest);
    return true;
  }

  #take(printed: string, line: Buffer): boolean {
    const real = toFoundPath(this.#dropNotices(printed), this.#root, this.#context);
    const colon = line.indexOf(":");
    const relative = real.slice(this.#root.length).replace(/^\/+/, "");
    if (!this.#isWanted(relative)) return true;
    if (this.lines.length >= this.#maxLines) return false;
    const text = decodeUtf8(line.subarray(colon + 1)).text.replace(/\r$/, "");
    this.#bytes += Buffer.byteLength(relative) + line.length + 2;
    if (this.#bytes > MAX_ANSWER_BYTES) {
      this.limit = `${MAX_ANSWER_BYTES / 1024} KB`;
      return false;
    }
    this.lines.push({ real, number: Number(line.toString("latin1", 0, colon)), text });
    return true;
  }

  /** A notice ends in a line feed and stands in front of the next file's path, whose own name may hold line feeds too. */
  #dropNotices(printed: string): string {
    const parts = printed.split("\n");
    while (parts.length > 1 && BINARY_NOTICE.test(parts[0] ?? "")) {
      parts.shift();
      this.binaryFiles += 1;
    }
    return parts.join("\n");
  }

  /** The last output may be a notice that no path follows. */
  #countNotices(rest: Buffer): void {
    if (rest.includes(NUL) || rest.length === 0 || rest[rest.length - 1] !== LINE_FEED) return;
    const lines = rest.toString("utf8").split("\n").slice(0, -1);
    if (!lines.every((line) => BINARY_NOTICE.test(line))) return;
    this.binaryFiles += lines.length;
    this.#rest = Buffer.alloc(0);
  }
}
