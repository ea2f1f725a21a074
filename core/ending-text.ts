import type { Delegation } from "./delegation.ts";
import { cutAt } from "./text.ts";

/** Say in one sentence how a delegation ended, for the model: what happened comes first. */
export function describeEnding(delegation: Delegation): string {
  const { error } = delegation;
  const because = error === undefined ? "" : ` ${error.code}: ${toSentence(error.message)}`;
  switch (delegation.status) {
    case "running":
      return "Still running.";
    case "completed":
      return "Completed. Its report:";
    case "truncated":
      return `Truncated: it was cut short before it was done.${because} What it reported:`;
    case "timed_out":
      return `Timed out: it did not finish.${because} Its partial report:`;
    case "stopped":
      return "Stopped on request before it was done. Its partial report:";
    case "aborted":
      return "Aborted because its turn ended or the session was closed. Its partial report:";
    case "failed":
      return `Failed: it did not finish.${because} Its partial report:`;
  }
}

function toSentence(text: string): string {
  return /[.!?]\s*$/.test(text) ? text : `${text}.`;
}

/** Name the calls that a delegate was not allowed to make; empty where there were none. */
export function describeDenials(delegation: Delegation): string {
  if (delegation.denials.length === 0) return "";
  const shown = delegation.denials
    .slice(0, 10)
    .map(({ tool, target, reason }) => `- ${tool} ${cutAt(target, 200)}: ${reason}`);
  const more = delegation.denials.length - shown.length;
  return ["Not allowed, so not done:", ...shown, ...(more > 0 ? [`- and ${more} more`] : [])].join("\n");
}
