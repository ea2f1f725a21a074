import type { Message } from "@earendil-works/pi-ai";

/** The text of a message: its text parts, one after another. */
export function toText(message: Message): string {
  if (typeof message.content === "string") return message.content;
  return message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
