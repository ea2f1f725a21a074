import type { SessionPort } from "../../core/session-port.ts";
import type { StateFolder } from "../../core/state-folder.ts";
import type { JournalStore } from "../journal/journal-store.ts";

/** Which attempt of which activity is meant. */
export interface ActivityRef {
  workflowId: string;
  workflowRunId: string;
  activityId: string;
  attempt: number;
}

/** What the server says of an attempt: it is wanted, it is to end, or the server has moved on without it. */
export type AttemptStanding = "wanted" | "cancel-requested" | "replaced";

/** What the activities need of the worker that carries them. */
export interface ActivityHost {
  stateFolder: StateFolder;
  journals: JournalStore;
  /** Built-in definitions and the user's. */
  builtinDirectory: string;
  userDirectory: string | undefined;
  /** Address of the Temporal server. */
  address: string;
  /** Process id and host, for people. */
  worker: string;
  sessionFor(sessionId: string): SessionPort;
  /** Ask the server about an attempt: the way in which a stop arrives where the server can't push it. */
  askStanding(ref: ActivityRef): Promise<AttemptStanding>;
}
