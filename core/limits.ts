/** Every number of the contract, each with its unit, its bounds and the reason for it. */

/** Idle window of a delegate: a measured p99.9 wait of 174 s for a first token, plus a margin for provider backoff. */
export const IDLE_TIMEOUT_SECONDS = 300;
/** Ceiling of a delegate over all attempts, tools included: six hours. */
export const MAX_DURATION_SECONDS = 21_600;
/** Ceiling of a main agent's turn: a day, so that a turn outlives the delegates it started. */
export const TURN_MAX_DURATION_SECONDS = 86_400;
/** Bounds of an idle window or ceiling that a definition or an environment variable sets. */
export const MIN_OVERRIDE_SECONDS = 10;
export const MAX_OVERRIDE_SECONDS = 21_600;
/** A lost host is noticed within this time however long the idle window is. */
export const MAX_HEARTBEAT_TIMEOUT_SECONDS = 300;
/** Time that a child workflow outlives its activity's ceiling, so that a child that can't start its activity ends too. */
export const CHILD_GRACE_SECONDS = 600;

/** TaskWait: default and bounds, in seconds. The idle window must stay below the default: a hang settles inside one wait. */
export const TASK_WAIT_DEFAULT_SECONDS = 600;
export const TASK_WAIT_MIN_SECONDS = 1;
export const TASK_WAIT_MAX_SECONDS = 900;
/** TaskStop answers after this time even if a worker that is gone can't confirm the stop. */
export const TASK_STOP_ANSWER_SECONDS = 10;
/** A stop takes effect within this time in every state of a run. */
export const STOP_EFFECT_SECONDS = 5;

/** Delegations that may run at once in a session; one more is refused, not queued. */
export const RUNNING_CAP = 10;
/** Settled records that a session keeps, the latest by the time of settling. */
export const KEPT_RECORDS = 100;
/** Definitions in force at once. */
export const MAX_DEFINITIONS = 16;

/** Lengths in UTF-16 code units; every mark of a cut counts. */
export const MAX_TASK_CHARACTERS = 100_000;
export const MAX_REPORT_CHARACTERS = 12_000;
export const MAX_TASK_WAIT_CHARACTERS = 50_000;
export const MAX_ANSWER_CHARACTERS = 100_000;
export const MAX_DESCRIPTION_CHARACTERS = 200;

/** Requests for one model turn, the first included. */
export const MAX_PROVIDER_TRIES = 5;
/** Workers that may be lost in a row, with no turn finished in between, before a run is given up. */
export const MAX_WORKER_LOSSES = 3;

/** Events that come within this time may share a heartbeat. */
export const HEARTBEAT_BURST_MS = 50;
/**
 * Heartbeats reach the server at least this often while there is something to say. Allowed are 5 s at most (the SDK's own default of 60 s would
 * blur every clock); 2 s keep the live view lively.
 */
export const MAX_HEARTBEAT_THROTTLE_MS = 2_000;
/** In every phase that is not the delegate's own silence a timer beats this often, or at a third of the window if that is less. */
export const PHASE_HEARTBEAT_MS = 10_000;
/** With a window above {@link MAX_HEARTBEAT_TIMEOUT_SECONDS} the main thread beats this often while the model is silent. */
export const LONG_WINDOW_HEARTBEAT_MS = 60_000;

/** Default and ceiling of Bash's own timeout, in seconds. */
export const BASH_TIMEOUT_SECONDS = 600;
