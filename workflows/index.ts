/** The workflows that a worker registers, and that a product embeds by re-exporting them. */
export { delegateWorkflow } from "./delegate.ts";
export { sessionWorkflow } from "./session.ts";
