import type { ModelSource } from "../../core/definition.ts";

/** What a pin means: a model, with a note where a choice was made, or the reason why it means none. */
type ModelPinResolution =
  | { kind: "resolved"; model: ModelSource; note?: string | undefined }
  | { kind: "unresolved"; reason: string };

/**
 * Resolve a definition's `model` as it is written, trimmed; `inherit` never comes here. Never throws, and never names another model
 * without a note.
 */
export type ResolveModelPin = (
  pin: string,
  context: { aliases: Readonly<Record<string, string>>; sessionModel: ModelSource },
) => ModelPinResolution | Promise<ModelPinResolution>;
