import type { BigIntStats, Stats } from "node:fs";

/** Name the kind of a file as a person would. */
export function toFileKind(stats: Stats | BigIntStats): string {
  if (stats.isFile()) return "regular file";
  if (stats.isDirectory()) return "directory";
  if (stats.isFIFO()) return "named pipe (FIFO)";
  if (stats.isSocket()) return "socket";
  if (stats.isCharacterDevice()) return "character device";
  if (stats.isBlockDevice()) return "block device";
  return stats.isSymbolicLink() ? "symbolic link" : "special file";
}
