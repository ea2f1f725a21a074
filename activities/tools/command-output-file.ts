import { type FileHandle, open } from "node:fs/promises";
import { OutputCollector, type OutputText } from "./command-output.ts";

/** Bytes of one command's output that are stored; what comes after them is counted, not kept. */
export const MAX_STORED_BYTES = 64 * 1024 * 1024;

export interface KeptOutput extends OutputText {
  /** Where the full output lies; undefined if the text has all of it, or if it could not be stored. */
  file: string | undefined;
  storedBytes: number;
  /** Why the full output could not be stored, or not to its end. */
  storeProblem: string | undefined;
}

/** Takes a command's output: the model's part in memory, and all of it in a file as soon as something must be left out. */
export class OutputKeeper {
  readonly #collector = new OutputCollector();
  readonly #path: string;
  readonly #limit: number;
  #handle: FileHandle | undefined;
  #storedBytes = 0;
  #problem: string | undefined;

  constructor(path: string, limit: number = MAX_STORED_BYTES) {
    this.#path = path;
    this.#limit = limit;
  }

  /** Contract: never throws; resolves when the chunk is stored, so that a slow disk slows the command and fills no memory. */
  async add(chunk: Uint8Array): Promise<void> {
    const isFirstOverflow = this.#collector.isWhole && !this.#collector.hasRoomFor(chunk.length);
    const before = isFirstOverflow ? this.#collector.toWhole() : undefined;
    this.#collector.add(chunk);
    if (this.#problem !== undefined || this.#collector.isWhole) return;
    try {
      if (before !== undefined) {
        this.#handle = await open(this.#path, "wx", 0o600);
        await this.#store(before);
      }
      await this.#store(chunk);
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
    }
  }

  async finish(): Promise<KeptOutput> {
    await this.#handle?.close().catch(() => undefined);
    const file = this.#storedBytes > 0 ? this.#path : undefined;
    const stored = { file, storedBytes: this.#storedBytes, storeProblem: this.#problem };
    return { ...this.#collector.toText(), ...stored };
  }

  async #store(chunk: Uint8Array): Promise<void> {
    const part = chunk.subarray(0, this.#limit - this.#storedBytes);
    if (part.length === 0) return;
    await this.#handle?.writeFile(part);
    this.#storedBytes += part.length;
  }
}
