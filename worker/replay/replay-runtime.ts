import { Writable } from "node:stream";
import { DefaultLogger, Runtime } from "@temporalio/worker";

/** Set the SDK up for a process that only replays: what it would log is in the outcomes. Once, before the first replay. */
export function installReplayRuntime(): void {
  Runtime.install({
    shutdownSignals: [],
    telemetryOptions: { logging: { filter: { core: "ERROR", other: "ERROR" }, forward: {} } },
    logger: new DefaultLogger("ERROR", () => undefined),
  });
}

/**
 * Hand what workflow code writes to its console to somebody, in place of this process's own output. It comes through the threads in which that code
 * runs, which take the streams of the process as they find them at their start. For a process that only replays, before the first replay.
 */
export function divertConsole(to: (text: string) => void): void {
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      to(String(chunk));
      done();
    },
  });
  for (const name of ["stdout", "stderr"]) {
    Object.defineProperty(process, name, { configurable: true, enumerable: true, get: () => stream });
  }
}
