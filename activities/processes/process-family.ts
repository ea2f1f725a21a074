import type { MarkedProcess } from "./process-table.ts";

/** A session that a command's shell leads or led. */
export interface CommandSession {
  id: number;
  /** Start time of the shell: a later leader of the same number is a stranger. */
  startTime: string | undefined;
}

/** The processes that must never be ended from within: this one and all that it descends from. */
export function toProtectedPids(table: readonly MarkedProcess[], self: number): Set<number> {
  const parents = new Map(table.map((entry) => [entry.pid, entry.parent]));
  const ancestry = new Set<number>();
  for (let pid = self; pid > 0 && !ancestry.has(pid); pid = parents.get(pid) ?? 0) ancestry.add(pid);
  return ancestry;
}

/**
 * Find the processes that belong to the wanted marks: the marked ones, all that descends from them, and all in a session or
 * group that one of them leads or that has lost its leader. So a process that cleared its environment is found as long as
 * one of these ties holds.
 */
export function toFamily(
  table: readonly MarkedProcess[],
  isWanted: (entry: MarkedProcess) => boolean,
  session?: CommandSession,
  self = process.pid,
): MarkedProcess[] {
  const isProtected = toProtectedPids(table, self);
  const candidates = table.filter((entry) => !isProtected.has(entry.pid));
  const family = new Set(
    candidates.filter((entry) => isWanted(entry) || (session !== undefined && isOf(session, entry, table))),
  );
  const ownTies = new Set(
    table.filter((entry) => isProtected.has(entry.pid)).flatMap((entry) => [entry.session, entry.group]),
  );
  for (let sizeBefore = -1; sizeBefore < family.size; ) {
    sizeBefore = family.size;
    const ties = toTies(family, table, ownTies);
    const pids = new Set([...family].map((entry) => entry.pid));
    for (const entry of candidates) {
      if (pids.has(entry.parent) || ties.has(entry.session) || ties.has(entry.group)) family.add(entry);
    }
  }
  return [...family];
}

function isOf(session: CommandSession, entry: MarkedProcess, table: readonly MarkedProcess[]): boolean {
  if (entry.session !== session.id) return false;
  const leader = table.find((other) => other.pid === session.id);
  return leader === undefined || leader.startTime === session.startTime;
}

/** Sessions and groups that are the family's own. One that a stranger leads, or that this process is in, is not. */
function toTies(
  family: ReadonlySet<MarkedProcess>,
  table: readonly MarkedProcess[],
  ownTies: ReadonlySet<number>,
): Set<number> {
  const living = new Map(table.map((entry) => [entry.pid, entry]));
  const ties = new Set<number>();
  for (const id of [...family].flatMap((entry) => [entry.session, entry.group])) {
    const leader = living.get(id);
    if (id > 1 && !ownTies.has(id) && (leader === undefined || family.has(leader))) ties.add(id);
  }
  return ties;
}
