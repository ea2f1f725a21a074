import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { close as closeCallback, closeSync, constants, open as openCallback } from "node:fs";
import { rm } from "node:fs/promises";
import { Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

// Plain descriptors: a FileHandle would close what the socket has taken over.
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
  /** Ends when nobody holds the writing end any more. Read it after {@link CommandPipe.closeWriter}. */
  toReader(): Socket;
  closeReader(): Promise<void>;
}

/**
 * Make a real pipe. The sockets that Node gives its children are none: a command can't open them again as `/dev/stdout`
 * or `/dev/stderr`, and each output would have its own, which loses their order.
 *
 * @throws Error if `folder` can't hold a named pipe.
 */
export async function openCommandPipe(folder: string, path: string | undefined): Promise<CommandPipe> {
  const name = join(folder, `.pipe-${randomUUID()}`);
  await makeNamedPipe(name, path);
  try {
    // Without O_NONBLOCK the opening would wait for a writer, which can't come before there is a reader.
    const reader = await open(name, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = await open(name, constants.O_WRONLY).catch(async (error: unknown) => {
      await close(reader);
      throw error;
    });
    return {
      name,
      writer,
      closeWriter: () => closeSync(writer),
      toReader: () => new Socket({ fd: reader, readable: true, writable: false }),
      closeReader: () => close(reader),
    };
  } finally {
    await rm(name, { force: true });
  }
}

function makeNamedPipe(name: string, path: string | undefined): Promise<void> {
  const env = path === undefined ? {} : { PATH: path };
  return new Promise((resolve, reject) => {
    execFile("mkfifo", ["-m", "600", name], { env, timeout: 10_000 }, (error) =>
      error ? reject(error) : resolve(),
    );
  });
}
