import { isUtf8 } from "node:buffer";
import { type Finding, refusal } from "./problem.ts";

/** A document's text with line feeds only. With a fault the text is a best guess, good for finding the document's name alone. */
export interface Decoded {
  text: string;
  fault?: Finding;
}

/** Read bytes as UTF-8, with or without a byte-order mark; every other encoding is refused by its name. */
export function decode(bytes: Buffer): Decoded {
  const wide = findWideEncoding(bytes);
  if (wide !== undefined) {
    const text = wide.label === undefined ? "" : new TextDecoder(wide.label).decode(bytes);
    return { text: toLineFeeds(text), fault: refuseEncoding(1, `is ${wide.name}`) };
  }
  const nul = bytes.indexOf(0);
  if (nul !== -1) {
    const text = toLineFeeds(bytes.toString("latin1").replaceAll("\0", ""));
    return { text, fault: refusal(lineAt(bytes, nul), "", "holds a NUL byte", "text without NUL bytes") };
  }
  if (!isUtf8(bytes)) {
    const line = findBadLine(bytes);
    const text = toLineFeeds(new TextDecoder("windows-1252").decode(bytes));
    return { text, fault: refuseEncoding(line, "is not UTF-8 (Latin-1 or Windows-1252, perhaps)") };
  }
  return { text: toLineFeeds(new TextDecoder("utf-8").decode(bytes)) };
}

function refuseEncoding(line: number, message: string): Finding {
  return refusal(line, "", message, "it again in UTF-8");
}

function toLineFeeds(text: string): string {
  return text.replace(/\r\n?/gu, "\n");
}

function findWideEncoding(bytes: Buffer): { name: string; label: string | undefined } | undefined {
  const head = bytes.subarray(0, 4).toString("hex");
  if (head === "fffe0000" || head === "0000feff") return { name: "UTF-32", label: undefined };
  if (head.startsWith("fffe")) return { name: "UTF-16", label: "utf-16le" };
  if (head.startsWith("feff")) return { name: "UTF-16", label: "utf-16be" };
  // Without a mark: an ASCII line in UTF-16 has a NUL in every second byte.
  const opening = bytes.subarray(0, 64);
  const nuls = [0, 0];
  for (const [index, byte] of opening.entries()) if (byte === 0) nuls[index % 2] = (nuls[index % 2] ?? 0) + 1;
  const enough = opening.length * 0.4;
  if (opening.length < 8) return undefined;
  if ((nuls[1] ?? 0) >= enough) return { name: "UTF-16", label: "utf-16le" };
  return (nuls[0] ?? 0) >= enough ? { name: "UTF-16", label: "utf-16be" } : undefined;
}

function lineAt(bytes: Buffer, offset: number): number {
  return toLineFeeds(bytes.subarray(0, offset).toString("latin1")).split("\n").length;
}

function findBadLine(bytes: Buffer): number {
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const feed = bytes.indexOf(0x0a, start);
    const end = feed === -1 ? bytes.length : feed;
    if (!isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
  return line;
}
