import { CrashSite } from "../test/support/crash-site.ts";
import { until } from "../test/support/real-session.ts";
import { countSaid, type StampedFrame, speakTime, WatchedTerminal } from "./watch-terminal.ts";

/**
 * `npm run bench:watch`: how long a word takes from the provider to the screen of `watch`, and what `watch` costs, while ten delegates stream 200 events a
 * second each. Everything is real: server, worker process, a provider over HTTP, a pseudo-terminal. The words are the times at which they were said.
 */
const DELEGATES = 10;
const EVENTS_A_SECOND = 200;
const SECONDS = 15;

const site = await CrashSite.open("watch-bench");
try {
  const worker = await site.startWorker();
  const session = await site.startSession({ speak: [speakTime(EVENTS_A_SECOND)] });
  for (let count = 0; count < DELEGATES; count += 1) await site.start(session, "[speak]");
  const terminal = new WatchedTerminal(session.sessionId, site.server.address, site.server.folder);
  await until(
    async () => terminal.countSpeaking(),
    (count) => count === DELEGATES,
    60_000,
  );
  const before = {
    watch: terminal.readCpuSeconds(),
    worker: terminal.readCpuSeconds(worker.pid),
    said: countSaid(),
    atMs: Date.now(),
  };
  const frames = await terminal.collect(SECONDS * 1000);
  const seconds = (Date.now() - before.atMs) / 1000;
  const delays = toDelays(frames);
  console.table({
    delegates: DELEGATES,
    "events a second, all together": Math.round((countSaid() - before.said) / seconds),
    "redraws a second": (frames.length / seconds).toFixed(1),
    "key to screen, median ms": quantile(delays, 0.5),
    "key to screen, 95 of 100 below ms": quantile(delays, 0.95),
    "key to screen, slowest ms": quantile(delays, 1),
    "cores used by watch": ((terminal.readCpuSeconds() - before.watch) / seconds).toFixed(2),
    "cores used by the worker": ((terminal.readCpuSeconds(worker.pid) - before.worker) / seconds).toFixed(2),
  });
  terminal.close();
} finally {
  await site.close();
}
process.exit(0);

/** A word is on the screen with the first frame that shows it or a later one; each millisecond between two frames' latest words counts once. */
function toDelays(frames: readonly StampedFrame[]): number[] {
  const latest = new Map<string, number>();
  const delays: number[] = [];
  for (const { atMs, stamps } of frames) {
    for (const [id, saidAtMs] of stamps) {
      const from = latest.get(id) ?? saidAtMs;
      for (let each = from + 1; each <= saidAtMs; each += 1) delays.push(atMs - each);
      latest.set(id, saidAtMs);
    }
  }
  return delays.toSorted((one, other) => one - other);
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
