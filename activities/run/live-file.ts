import { type FileHandle, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import type { AgentRunDetails, AgentRunInput } from "../../core/agent-run.ts";
import {
  LIVE_FILE_EVERY_MS,
  LIVE_TEXT_CHARACTERS,
  type LiveFileContent,
  toLiveFile,
} from "../../core/live-file.ts";
import type { StateFolder } from "../../core/state-folder.ts";
import { toWellFormed } from "../../core/text.ts";

/**
 * Puts a run's freshest details where a watcher on this host finds them at once, with every beat.
 *
 * A convenience: what fails here is passed over, and the run never waits for it. It may lie behind after a kill; the next attempt puts its own in its
 * place. The file stays open and is written over, so that a busy disk or host delays a word by one step only; a reader that meets a write
 * half done sees no JSON and looks again.
 */
export class LiveFile {
  readonly #file: string;
  readonly #run: Pick<AgentRunInput, "sessionId" | "chain">;
  #latest: { details: AgentRunDetails; text: string } | undefined;
  #handle: FileHandle | undefined;
  #longest = 0;
  #written: string | undefined;
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor(state: StateFolder, run: Pick<AgentRunInput, "sessionId" | "chain">) {
    this.#file = toLiveFile(state, run.sessionId, run.chain);
    this.#run = run;
  }

  note(details: AgentRunDetails, text: string): void {
    if (this.#isEnded) return;
    this.#latest = { details, text };
    if (this.#timer === undefined && this.#writing === undefined) this.#write();
  }

  /** Take it away, unless another attempt has put its own there. */
  async end(): Promise<void> {
    this.#isEnded = true;
    this.#latest = undefined;
    clearTimeout(this.#timer);
    await this.#writing;
    await this.#handle?.close().catch(() => undefined);
    const found = await readFile(this.#file, "utf8").catch(() => undefined);
    if (found !== undefined && found.trimEnd() === this.#written) {
      await rm(this.#file, { force: true }).catch(() => undefined);
    }
  }

  #write(): void {
    if (this.#latest === undefined) return;
    const text = JSON.stringify(toContent(this.#run, this.#latest));
    this.#latest = undefined;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#writing === undefined) this.#write();
    }, LIVE_FILE_EVERY_MS);
    this.#timer.unref();
    this.#writing = this.#overwrite(text)
      .catch(() => undefined)
      .then(() => {
        this.#writing = undefined;
        if (this.#timer === undefined) this.#write();
      });
  }

  /** In one write, blanks over what was longer before. */
  async #overwrite(text: string): Promise<void> {
    this.#handle ??= await openBeside(this.#file);
    const bytes = Buffer.from(text);
    this.#longest = Math.max(this.#longest, bytes.length);
    const blanks = Buffer.alloc(this.#longest - bytes.length, " ");
    await this.#handle.write(Buffer.concat([bytes, blanks]), 0, this.#longest, 0);
    this.#written = text;
  }
}

function toContent(
  { sessionId, chain }: Pick<AgentRunInput, "sessionId" | "chain">,
  { details, text }: { details: AgentRunDetails; text: string },
): LiveFileContent {
  const saying = toWellFormed(text.trimEnd().slice(-LIVE_TEXT_CHARACTERS));
  return { sessionId, chain, atMs: Date.now(), details: { ...details, partialReport: "" }, saying };
}

/** A new file in the place of an earlier attempt's, which may still write to its own. */
async function openBeside(file: string): Promise<FileHandle> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const handle = await open(`${file}.new`, "w", 0o600);
  await rename(`${file}.new`, file);
  return handle;
}
