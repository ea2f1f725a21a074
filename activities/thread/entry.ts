import { parentPort, workerData } from "node:worker_threads";
import type { AgentEvent, AgentTool } from "@earendil-works/pi-agent-core";
import type { TraceContext } from "../../core/trace-context.ts";
import { toSecretHider } from "../models/redact.ts";
import { createModelRuntime, type ModelRuntime } from "../models/runtime.ts";
import { toolsByName } from "../tools/index.ts";
import { type LoopHost, runLoop } from "./agent-loop.ts";
import { openParentChannel, type ParentChannel } from "./parent-channel.ts";
import type { Permit, ThreadStart } from "./protocol.ts";
import { toTraceHeaders, withRequestTrace } from "./request-trace.ts";
import { isDurable, toThreadEvent } from "./thread-event.ts";
import { toAgentTool, toDelegationTools } from "./tool-adapter.ts";

/** An agent thread: pi's loop and the tools. Heartbeats, journal and permissions live on the main thread, where nothing here can starve them. */
async function main(start: ThreadStart, channel: ParentChannel): Promise<void> {
  const { run } = start;
  const runtime = await createRuntime(start, channel);
  channel.send({ type: "model", label: runtime.label });
  const counter = { turns: start.turns };
  const permits = new Map<string, Permit>();
  const ending = await runLoop(
    {
      systemPrompt: start.systemPrompt,
      history: start.history,
      prompt: start.hasPrompt ? undefined : run.prompt,
      unfinished: start.unfinished,
      tools: toTools(start, channel, counter, permits),
      runtime,
      thinkingLevel: run.thinkingLevel,
      maxTurns: run.limits.maxTurns,
      turns: start.turns,
      isTurnOpen: start.isTurnOpen,
    },
    toHost(channel, counter, permits),
  );
  channel.send({ type: "end", ending });
}

async function createRuntime({ run, isTraced }: ThreadStart, channel: ParentChannel): Promise<ModelRuntime> {
  let trace: TraceContext | undefined;
  const runtime = await createModelRuntime(run.model, {
    role: run.role,
    agent: run.agent,
    task: run.prompt,
    environment: process.env,
    thinkingLevel: run.thinkingLevel,
    toTraceHeaders: () => toTraceHeaders(trace),
  });
  if (!isTraced) return runtime;
  return withRequestTrace(runtime, {
    async begin() {
      trace = await channel.ask("request", undefined);
    },
    end: (ending) => channel.send({ type: "answered", ending }),
  });
}

function toTools(
  start: ThreadStart,
  channel: ParentChannel,
  counter: { turns: number },
  permits: ReadonlyMap<string, Permit>,
): AgentTool[] {
  const assertOwner = async () => void (await channel.ask("assertOwner", undefined));
  const hideSecrets = toSecretHider(process.env);
  const own = start.run.tools.map((name) =>
    toAgentTool(
      toolsByName[name],
      (callId) => ({
        ...start.tools,
        callId,
        allowedOutside: permits.get(callId)?.allowedOutside ?? [],
        trace: permits.get(callId)?.trace,
        assertOwner,
      }),
      hideSecrets,
    ),
  );
  if (start.run.role === "delegate" || start.run.catalogue.length === 0) return own;
  return [
    ...own,
    ...toDelegationTools((tool, callId, input) =>
      channel.ask("delegation", { tool, callId, input, turn: counter.turns }),
    ),
  ];
}

function toHost(channel: ParentChannel, counter: { turns: number }, permits: Map<string, Permit>): LoopHost {
  return {
    signal: channel.signal,
    async onEvent(event: AgentEvent) {
      if (event.type === "turn_end") counter.turns += 1;
      const crossing = toThreadEvent(event);
      if (isDurable(crossing)) await channel.ask("event", crossing);
      else channel.send({ type: "event", event: crossing });
    },
    async permit(callId, tool, input) {
      const permit = await channel.ask("permit", { callId, tool, input });
      permits.set(callId, permit);
      return permit;
    },
    async backOff(waitMs, nextTry, code) {
      const { mayWait } = await channel.ask("backoff", { waitMs, nextTry, code });
      if (mayWait) await sleep(waitMs, channel.signal);
      return mayWait;
    },
  };
}

/** Timers count to 2^31-1 ms; a longer wait would end at once. No window is longer than that. */
function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.min(delayMs, 2 ** 31 - 1));
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

if (parentPort === null) throw new Error("this file is the entry of a worker thread");
await main(workerData as ThreadStart, openParentChannel(parentPort));
// Sockets and timers of a provider's client must not keep a finished thread alive.
parentPort.close();
