import { createHash, type Hash } from "node:crypto";
import type { BigIntStats } from "node:fs";

/** Up to this size a file's version is the hash of its content, above it is size, time and inode: hashing must not take seconds. */
export const MAX_HASHED_BYTES = 16 * 1024 * 1024;

/** Start the hash that {@link toContentVersion} ends. */
export function startVersion(): Hash {
  return createHash("sha256");
}

export function toContentVersion(content: Hash | Uint8Array): string {
  const hash = content instanceof Uint8Array ? startVersion().update(content) : content;
  return `sha256:${hash.digest("hex")}`;
}

/** Version of a file too big to hash. */
export function toStatVersion(stats: BigIntStats): string {
  return `stat:${stats.size}:${stats.mtimeNs}:${stats.ino}`;
}

/** What must not have changed between a look at a file and its replacement. */
export function toFileIdentity(stats: BigIntStats): string {
  return `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
}
