import { setTimeout as sleep } from "node:timers/promises";
import type { SessionHandle } from "../client/session-client.ts";
import { CrashSite } from "../test/support/crash-site.ts";
import type { Handler } from "../test/support/openai-server.ts";
import { callTools, reply } from "../test/support/openai-server-behaviours.ts";
import { until } from "../test/support/real-session.ts";
import type { WorkerProcess } from "../test/support/worker-process.ts";
import { type ChaosCounts, countUp, toLineId } from "./chaos-counts.ts";
import { createRandom } from "./random.ts";

export const DELEGATES = 10;
/** Turns that a delegate works at least, however few the kills are. */
const MIN_TURNS = 4;
/** A run that lost its worker so often since its last turn is given time to finish one: the third loss would rightly be its end. */
const MAX_LOSSES = 2;
const LONGEST_REPRIEVE_MS = 4_000;

export interface ChaosOptions {
  kills: number;
  seed: number;
  log: (line: string) => void;
}

/**
 * Let a main agent and ten delegates work while their worker is killed again and again at random moments, and count what became of their work.
 *
 * Everything is real but the model's words: server, worker processes, tools, files, and a provider over HTTP that refuses an unpaired transcript.
 */
export async function runChaos({ kills, seed, log }: ChaosOptions): Promise<ChaosCounts> {
  const site = await CrashSite.open("chaos");
  const random = createRandom(seed);
  const progress = { isOver: false };
  try {
    const startedAtMs = Date.now();
    let worker = await site.startWorker();
    const session = await site.startSession(toParts(random, progress));
    await session.send("[chaos]", "turn");
    await until(
      () => session.view().catch(() => undefined),
      (view) => view?.delegations.length === DELEGATES,
      60_000,
    );
    const losses = new Losses(site, session);
    const resumedMs: number[] = [];
    for (let kill = 1; kill <= kills; kill++) {
      await sleep(random() * LONGEST_REPRIEVE_MS);
      await losses.untilKillable();
      await losses.count();
      await worker.end("SIGKILL");
      worker = await site.startWorker();
      resumedMs.push(await untilResumed(site, session, worker));
      if (kill % 5 === 0 || kill === kills) log(`${kill} of ${kills} kills, ${await losses.describe()}`);
    }
    progress.isOver = true;
    const turn = await session.waitForTurn(1);
    return await countUp({
      site,
      session,
      turn,
      kills,
      resumedMs,
      seconds: (Date.now() - startedAtMs) / 1000,
    });
  } finally {
    await site.close();
  }
}

function toParts(random: () => number, progress: { isOver: boolean }): Record<string, Handler[]> {
  const delegates = Array.from({ length: DELEGATES }, (_, index): [string, Handler[]] => {
    const name = `d${index + 1}`;
    return [`[${name}]`, anyTurn((turn) => toDelegateAnswer(name, turn, random, progress))];
  });
  return { "[chaos]": anyTurn(toMainAnswer), ...Object.fromEntries(delegates) };
}

/** The same handler for every turn of a conversation, however long it gets. */
function anyTurn(toHandler: (turn: number) => Handler): Handler[] {
  return new Proxy<Handler[]>([], {
    get: (target, key) =>
      typeof key === "string" && /^\d+$/.test(key) ? toHandler(Number(key)) : Reflect.get(target, key),
  });
}

function toMainAnswer(turn: number): Handler {
  if (turn === 0) {
    const tasks = Array.from({ length: DELEGATES }, (_, index) => ({
      id: `t${index + 1}`,
      name: "Task",
      input: { agent: "hand", task: `[d${index + 1}]`, description: `lines of d${index + 1}` },
    }));
    return callTools(...tasks);
  }
  return (exchange) => {
    const last = exchange.request.messages.at(-1);
    const text = JSON.stringify(last?.content);
    const isDone = turn > 1 && !text.includes("Still running");
    // Short waits: each ends a turn, so that a loss in the next one is the first again.
    return isDone
      ? reply("all reports are in")(exchange)
      : callTools({ id: `w${turn}`, name: "TaskWait", input: { timeoutSeconds: 2 } })(exchange);
  };
}

function toDelegateAnswer(
  name: string,
  turn: number,
  random: () => number,
  progress: { isOver: boolean },
): Handler {
  return async (exchange) => {
    for (let word = 0; word < 4; word++) {
      await sleep(random() * 400);
      exchange.text(`word ${word} of ${name}, `);
    }
    if (progress.isOver && turn >= MIN_TURNS) {
      exchange.text(`report of ${name}`);
      exchange.finish("stop");
      return;
    }
    const calls = Array.from({ length: 1 + (turn % 2) }, (_, index) => toLineId(name, turn, index + 1));
    for (const [index, line] of calls.entries()) {
      const command = `echo ${line} >> ${name}.log${turn % 3 === 0 ? "; sleep 0.3" : ""}`;
      exchange.call(index, line, "Bash", [JSON.stringify({ command })]);
    }
    exchange.finish("tool_calls");
  };
}

/** When the first line of any journal was written after a worker's start, in milliseconds. */
async function untilResumed(site: CrashSite, session: SessionHandle, worker: WorkerProcess): Promise<number> {
  const [first] = await until(
    async () => {
      const chains = ["main", ...Array.from({ length: DELEGATES }, (_, index) => `task-${index + 1}`)];
      const all = await Promise.all(chains.map((chain) => site.entries(session, chain).catch(() => [])));
      return all
        .flatMap((entries) => entries.flatMap((entry) => (entry.kind === "run" ? [entry.atMs] : [])))
        .filter((atMs) => atMs > worker.spawnedAtMs);
    },
    (times) => times.length > 0,
    60_000,
  );
  return (first ?? 0) - worker.spawnedAtMs;
}

/** Losses since each run's last finished turn, as the runs themselves count them. */
class Losses {
  readonly #site: CrashSite;
  readonly #session: SessionHandle;
  readonly #chains = ["main", ...Array.from({ length: DELEGATES }, (_, index) => `task-${index + 1}`)];
  readonly #known = new Map<string, { turns: number; losses: number }>();

  constructor(site: CrashSite, session: SessionHandle) {
    this.#site = site;
    this.#session = session;
  }

  async untilKillable(): Promise<void> {
    try {
      await until(
        () => this.#listStuck(),
        (stuck) => stuck.length === 0,
        120_000,
      );
    } catch (error) {
      const stuck = await this.#listStuck();
      const states = [await this.#session.liveTurn(), ...(await this.#session.live(stuck)).values()];
      throw new Error(`${stuck.join()} finished no turn: ${JSON.stringify(states)}`, { cause: error });
    }
  }

  async #listStuck(): Promise<string[]> {
    const turns = await this.#turns();
    return this.#chains.filter((chain) => {
      const known = this.#known.get(chain);
      return known !== undefined && known.losses >= MAX_LOSSES && (turns.get(chain) ?? 0) <= known.turns;
    });
  }

  /** Count the loss that comes now. */
  async count(): Promise<void> {
    for (const [chain, turns] of await this.#turns()) {
      const known = this.#known.get(chain);
      const before = known === undefined || turns > known.turns ? 0 : known.losses;
      this.#known.set(chain, { turns, losses: before + 1 });
    }
  }

  async describe(): Promise<string> {
    const turns = [...(await this.#turns()).values()];
    return `${turns.reduce((sum, each) => sum + each, 0)} turns finished`;
  }

  async #turns(): Promise<Map<string, number>> {
    const counts = await Promise.all(
      this.#chains.map(async (chain): Promise<[string, number]> => {
        const entries = await this.#site.entries(this.#session, chain).catch(() => []);
        return [chain, entries.filter(({ kind }) => kind === "turn-end").length];
      }),
    );
    return new Map(counts);
  }
}
