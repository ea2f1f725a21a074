/** What agents said and did, as the workers of this host wrote it down. */
export { openTranscript } from "../activities/journal/read-transcript.ts";
