import type { Client } from "@temporalio/client";
import { createGate, type Gate } from "./gate.ts";

/**
 * What keeps this process from crowding one session: a server takes ten updates of a workflow at a time, and updates that arrive together
 * while one of its steps is carried out can be taken back and delay one another for many seconds.
 */
export interface SessionGates {
  /** One update at a time is handed over; what it then takes does not count. */
  handover: Gate;
  /** Long waits leave room among the ten for calls that act. */
  waits: Gate;
}

const WAITS_AT_ONCE = 7;

const gates = new WeakMap<Client, Map<string, SessionGates>>();

/** The gates of a session, shared by all handles that work with it through one client. */
export function toSessionGates(client: Client, sessionId: string): SessionGates {
  let ofClient = gates.get(client);
  if (ofClient === undefined) {
    ofClient = new Map();
    gates.set(client, ofClient);
  }
  let found = ofClient.get(sessionId);
  if (found === undefined) {
    found = { handover: createGate(1), waits: createGate(WAITS_AT_ONCE) };
    ofClient.set(sessionId, found);
  }
  return found;
}
