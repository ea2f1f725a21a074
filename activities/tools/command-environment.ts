import type { TraceContext } from "../../core/trace-context.ts";
import { isWithheld } from "../models/secret-variables.ts";

/** For whom a command runs; see ProcessMarks for what each is for. */
export interface CommandMarker {
  run: string;
  call: string;
  command: string;
}

/** What concerns the worker's own process, and would change how a command's programs behave. */
const workerOwn = [
  /^SUBAGENTS_/,
  /^NODE_(OPTIONS|COMPILE_CACHE|CHANNEL_FD|CHANNEL_SERIALIZATION_MODE|UNIQUE_ID|V8_COVERAGE|TEST_CONTEXT)$/,
  /^OTEL_(SERVICE_NAME|METRICS_EXPORTER|EXPORTER_PROMETHEUS_(HOST|PORT))$/,
  /^JEST_WORKER_ID$/,
  /^npm_(lifecycle|package|command|execpath|node_execpath|config_local_prefix)/,
  /^(INIT_CWD|OLDPWD)$/,
  // Askers of passwords wait for a person; colours and windows are for one.
  /^(GIT_ASKPASS|SSH_ASKPASS|FORCE_COLOR|CLICOLOR_FORCE|DISPLAY|WAYLAND_DISPLAY)$/,
];

/** Nobody answers: an editor accepts what it is given, so `git commit` without a message fails and a rebase goes on. */
const nobodyAnswers = {
  EDITOR: "true",
  VISUAL: "true",
  GIT_EDITOR: "true",
  GIT_SEQUENCE_EDITOR: "true",
  GIT_TERMINAL_PROMPT: "0",
  // Empty and not absent: an empty one keeps git from the asker that its configuration names.
  GIT_ASKPASS: "",
  GCM_INTERACTIVE: "never",
  SSH_ASKPASS_REQUIRE: "never",
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  SYSTEMD_PAGER: "cat",
  TERM: "dumb",
  DEBIAN_FRONTEND: "noninteractive",
  PIP_NO_INPUT: "1",
};

/** Make the environment of a tool's process: the worker's own without its secrets, nobody to ask, the marks, and the trace it belongs to. */
export function toToolEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  marker: CommandMarker,
  trace?: TraceContext,
): Record<string, string> {
  const isKept = (name: string) => !isWithheld(name) && !workerOwn.some((pattern) => pattern.test(name));
  const kept = Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && isKept(name) ? [[name, value] as const] : [],
  );
  return {
    ...Object.fromEntries(kept),
    ...nobodyAnswers,
    SUBAGENTS_RUN: marker.run,
    // A model or a provider chooses a call's id; a NUL can't stand in an environment.
    SUBAGENTS_CALL: marker.call.replaceAll("\0", "").slice(0, 256),
    SUBAGENTS_COMMAND: marker.command,
    ...(trace === undefined ? {} : toTraceVariables(trace)),
  };
}

/** Empty and not absent: the worker's own would not belong to this trace. */
function toTraceVariables({ traceparent, tracestate = "" }: TraceContext): Record<string, string> {
  return { TRACEPARENT: traceparent, TRACESTATE: tracestate };
}
