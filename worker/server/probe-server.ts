import { setTimeout as sleep } from "node:timers/promises";
import { Connection, isGrpcServiceError } from "@temporalio/client";
import type { NativeConnectionOptions } from "@temporalio/worker";

/** Options for `Connection.connect` and `NativeConnection.connect` alike. */
export type ServerConnectionOptions = NativeConnectionOptions;

/** gRPC's own codes. */
export const NOT_FOUND = 5;
export const ALREADY_EXISTS = 6;
export const PERMISSION_DENIED = 7;
export const UNIMPLEMENTED = 12;

const SERVING = 1;
const SERVICE = "temporal.api.workflowservice.v1.WorkflowService";
const CALL_TIMEOUT_MS = 10_000;
const POLL_MS = 100;

/** Connect, do something and close the connection again. Each call to the server is bounded. */
export async function withConnection<Result>(
  options: ServerConnectionOptions,
  use: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const connection = await Connection.connect({ ...options, connectTimeout: CALL_TIMEOUT_MS });
  try {
    return await connection.withDeadline(Date.now() + CALL_TIMEOUT_MS, () => use(connection));
  } finally {
    await connection.close();
  }
}

/** Whether Temporal answers at an address of this machine and has the namespace. */
export async function isTemporalAt(address: string, namespace: string): Promise<boolean> {
  try {
    await withConnection({ address }, (connection) =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    return true;
  } catch {
    return false;
  }
}

/**
 * Wait until a server says that it serves.
 *
 * @throws Error the last reason why it did not within `timeoutMs`.
 */
export async function waitUntilServing(address: string, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      const health = await withConnection({ address }, (connection) =>
        connection.healthService.check({ service: SERVICE }),
      );
      if (health.status === SERVING) return;
      if (Date.now() > deadline) throw new Error(`its health is ${health.status}, not serving`);
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await sleep(POLL_MS);
  }
}

/** Whether a call failed with one of gRPC's codes. */
export function hasGrpcCode(error: unknown, code: number): boolean {
  return isGrpcServiceError(error) && error.code === code;
}
