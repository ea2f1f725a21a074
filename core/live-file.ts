import { z } from "zod";
import { agentRunDetailsSchema } from "./agent-run.ts";
import { encodeFileName, type StateFolder } from "./state-folder.ts";

/** How often a live file is written at most. Beats, which it follows, come every 50 ms at most: this must not make them wait for one another. */
export const LIVE_FILE_EVERY_MS = 25;
/** Characters of the running text that a live file holds: more than a line of any terminal. */
export const LIVE_TEXT_CHARACTERS = 600;

export const liveFileSchema = z.object({
  sessionId: z.string(),
  /** `main` or the delegation's id. */
  chain: z.string(),
  /** When it was written, by the worker's clock. */
  atMs: z.number(),
  /** As in a heartbeat, without the partial report. */
  details: agentRunDetailsSchema,
  /** The end of what the agent is saying or said last. */
  saying: z.string(),
});
/** What a run does at this moment, for watchers on the same host: a heartbeat takes seconds to get through the server. */
export type LiveFileContent = z.infer<typeof liveFileSchema>;

/** Where the live file of a run lies; its attempts share it. */
export function toLiveFile(state: StateFolder, sessionId: string, chain: string): string {
  return `${state.runs}/${encodeFileName(sessionId)}.${encodeFileName(chain)}.live`;
}
