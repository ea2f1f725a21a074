import { defineSearchAttributeKey } from "@temporalio/common";

/** The definition's name on a delegate, `main` on a session. Registered as Keyword. */
export const AGENT_SEARCH_ATTRIBUTE = defineSearchAttributeKey("SubagentsAgent", "KEYWORD");
/** The status of a delegate or a session. Registered as Keyword. */
export const STATUS_SEARCH_ATTRIBUTE = defineSearchAttributeKey("SubagentsStatus", "KEYWORD");

/**
 * Every search attribute that workflows set. A server must have them all registered before one is set: an unregistered one
 * fails workflow tasks for ever, so a workflow is told in its input whether they exist.
 */
export const SEARCH_ATTRIBUTES = [AGENT_SEARCH_ATTRIBUTE, STATUS_SEARCH_ATTRIBUTE];
