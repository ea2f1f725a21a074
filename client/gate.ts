/** Lets at most so many calls through at a time, in the order in which they came. */
export interface Gate {
  /** Carry out `work` when its turn has come. Rejects with the signal's reason if that is aborted before. */
  pass<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
}

export function createGate(limit: number): Gate {
  let inside = 0;
  const queue: (() => void)[] = [];

  function leave(): void {
    inside -= 1;
    queue.shift()?.();
  }

  async function enter(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (inside < limit) {
      inside += 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const admit = () => {
      inside += 1;
      resolve();
    };
    const giveUp = () => {
      const index = queue.indexOf(admit);
      if (index >= 0) queue.splice(index, 1);
      reject(signal?.reason);
    };
    queue.push(admit);
    signal?.addEventListener("abort", giveUp, { once: true });
    await promise.finally(() => signal?.removeEventListener("abort", giveUp));
  }

  return {
    async pass(work, signal) {
      await enter(signal);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
