import { readdir, readFile, readlink } from "node:fs/promises";

/**
 * Find the processes that can still write to a named pipe whose name was removed. What holds a command's output is that
 * command's, even if it cleared its environment and left every group. Linux only; elsewhere there are none.
 */
export async function findPipeWriters(name: string): Promise<Set<number>> {
  const pids = (await list("/proc")).filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid);
  const holders = await Promise.all(pids.map(async (pid) => ((await isWriter(pid, name)) ? Number(pid) : 0)));
  return new Set(holders.filter((pid) => pid !== 0));
}

async function isWriter(pid: string, name: string): Promise<boolean> {
  for (const descriptor of await list(`/proc/${pid}/fd`)) {
    const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => "");
    if (target !== `${name} (deleted)`) continue;
    // A program that another thread is just starting has our reading end for an instant: that is no tie.
    const information = await readFile(`/proc/${pid}/fdinfo/${descriptor}`, "latin1").catch(() => "");
    if (/^flags:\s*\d*[12]$/m.test(information)) return true;
  }
  return false;
}

/** Gone in the meantime, or another user's: nothing to see. */
function list(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
