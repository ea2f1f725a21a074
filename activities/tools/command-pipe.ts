import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { close as closeCallback, closeSync, constants, open as openCallback } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { promisify } from "node:util";

const open = promisify(openCallback);
const close = promisify(closeCallback);

/** One pipe for a command's two outputs, so that they come in the order in which they were written. */
export interface CommandPipe {
  /** The path that it had: its name in the kernel's lists, long after the path is gone. */
  name: string;
  /** Descriptor for the command. */
  writer: number;
  /** Give up our copy of the writing end, once the command has its own. */
  closeWriter(): void;
  /** Ends when nobody holds the writing end any more. */
  reader: Readable;
  /** Read no more, whoever still writes. */
  closeReader(): void;
}

/**
 * Make a real pipe. The sockets that Node gives its children are none: a command can't open them again as `/dev/stdout`
 * or `/dev/stderr`, and each output would have its own, which loses their order.
 *
 * Node itself can't wait for such a pipe without handing the descriptor over to a socket; in a thread it would then close
 * that number once more at the thread's end, when it may be anybody's. So a `cat` stands between the pipe and Node.
 *
 * @throws Error if `folder` can't hold a named pipe, or the programs are missing.
 */
export async function openCommandPipe(
  folder: string,
  environment: Record<string, string>,
): Promise<CommandPipe> {
  const name = join(folder, `.pipe-${randomUUID()}`);
  await makeNamedPipe(name, environment);
  try {
    // Without O_NONBLOCK the first opening would wait for a writer, which can't come before there is a reader.
    const first = await open(name, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const writer = await open(name, constants.O_WRONLY);
      const relay = await startRelay(name, environment).catch((error: unknown) => {
        closeSync(writer);
        throw error;
      });
      return { name, writer, closeWriter: () => closeSync(writer), ...relay };
    } finally {
      await close(first);
    }
  } finally {
    await rm(name, { force: true });
  }
}

async function startRelay(
  name: string,
  env: Record<string, string>,
): Promise<Pick<CommandPipe, "reader" | "closeReader">> {
  const input = await open(name, constants.O_RDONLY);
  try {
    const relay = spawn("cat", [], { stdio: [input, "pipe", "ignore"], env, cwd: "/", detached: true });
    await new Promise((resolve, reject) => relay.once("spawn", resolve).once("error", reject));
    const reader = relay.stdout;
    if (reader === null) throw new Error("the reader of the output has no output of its own");
    const closeReader = () => {
      relay.kill("SIGKILL");
      reader.destroy();
    };
    return { reader, closeReader };
  } finally {
    await close(input);
  }
}

function makeNamedPipe(name: string, env: Record<string, string>): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile("mkfifo", ["-m", "600", name], { env, timeout: 10_000 }, (error) =>
      error ? reject(error) : resolve(),
    );
  });
}
