import { mkdir, rename, rm, writeFile } from "node:fs/promises";
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
 * Puts a run's freshest details where a watcher on this host finds them at once, at most every 75 ms.
 *
 * A convenience: what fails here is passed over, and the run never waits for it. It may lie behind after a kill; the next attempt writes over it.
 */
export class LiveFile {
  readonly #file: string;
  readonly #run: Pick<AgentRunInput, "sessionId" | "chain">;
  #latest: { details: AgentRunDetails; text: string } | undefined;
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

  /** Take it away. */
  async end(): Promise<void> {
    this.#isEnded = true;
    this.#latest = undefined;
    clearTimeout(this.#timer);
    await this.#writing;
    await rm(this.#file, { force: true }).catch(() => undefined);
  }

  #write(): void {
    if (this.#latest === undefined) return;
    const content = toContent(this.#run, this.#latest);
    this.#latest = undefined;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#writing === undefined) this.#write();
    }, LIVE_FILE_EVERY_MS);
    this.#timer.unref();
    this.#writing = replace(this.#file, JSON.stringify(content)).then(() => {
      this.#writing = undefined;
      if (this.#timer === undefined) this.#write();
    });
  }
}

function toContent(
  { sessionId, chain }: Pick<AgentRunInput, "sessionId" | "chain">,
  { details, text }: { details: AgentRunDetails; text: string },
): LiveFileContent {
  const saying = toWellFormed(text.trimEnd().slice(-LIVE_TEXT_CHARACTERS));
  return { sessionId, chain, atMs: Date.now(), details: { ...details, partialReport: "" }, saying };
}

/** Readers see the old content or the new one, whole. */
async function replace(file: string, content: string): Promise<void> {
  try {
    await writeFile(`${file}.new`, content, { mode: 0o600 });
    await rename(`${file}.new`, file);
  } catch {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 }).catch(() => undefined);
  }
}
