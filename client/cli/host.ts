import { homedir } from "node:os";
import { type StateFolder, toStateFolder } from "../../core/state-folder.ts";
import { CliError } from "./cli-error.ts";
import type { Output } from "./output.ts";

/** What a command has to work with: the machine it runs on and where it writes. */
export interface Host {
  environment: NodeJS.ProcessEnv;
  stateFolder: StateFolder;
  output: Output;
  interruption: Interruption;
}

/** The first Ctrl-C or SIGTERM; the second one ends the process at once. */
export interface Interruption {
  signal: AbortSignal;
  /** Reject as soon as the person interrupts. For phases that can simply be left. */
  orElse<Value>(work: Promise<Value>): Promise<Value>;
}

/** The reason of an interruption's signal. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

/** Find the state folder. @throws CliError Configuration.Invalid. */
export function findStateFolder(environment: NodeJS.ProcessEnv): StateFolder {
  try {
    return toStateFolder(environment, environment.HOME || homedir());
  } catch (error) {
    throw new CliError("Configuration.Invalid", error instanceof Error ? error.message : String(error));
  }
}

/** Listen for Ctrl-C and SIGTERM. `exitNow` is called at the second one. */
export function listenForInterruption(exitNow: () => void): Interruption {
  const controller = new AbortController();
  const onSignal = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) exitNow();
    else controller.abort(new Interrupted(name));
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  const { signal } = controller;
  const { promise: interrupted, reject } = Promise.withResolvers<never>();
  interrupted.catch(() => undefined);
  signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  return { signal, orElse: (work) => Promise.race([work, interrupted]) };
}
