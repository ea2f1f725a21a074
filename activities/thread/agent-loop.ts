import {
  type AgentContext,
  type AgentEvent,
  type AgentLoopConfig,
  type AgentTool,
  runAgentLoop,
  runAgentLoopContinue,
  runToolCall,
} from "@earendil-works/pi-agent-core";
import {
  type AssistantMessage,
  createInitialSystemMessage,
  type Message,
  type ToolResultMessage,
} from "@earendil-works/pi-ai";
import type { ThinkingLevel } from "../../core/definition.ts";
import { closingInstruction } from "../../core/system-prompt.ts";
import { toRetryDelayMs } from "../models/retry-delay.ts";
import type { ModelRuntime } from "../models/runtime.ts";
import { createEventFilter } from "./event-filter.ts";
import { toText } from "./message-text.ts";
import type { LoopEnding, Permit } from "./protocol.ts";
import { withUniqueCallIds } from "./unique-call-ids.ts";

/** What a loop works on. */
export interface LoopInput {
  systemPrompt: string;
  history: Message[];
  /** A user message to begin with; undefined to go on from the history. */
  prompt: string | undefined;
  unfinished: { results: ToolResultMessage[]; rerun: string[] } | undefined;
  tools: AgentTool[];
  runtime: ModelRuntime;
  thinkingLevel: ThinkingLevel | undefined;
  maxTurns: number | undefined;
  turns: number;
  /** Whether the history ends within a turn: its last assistant message has no end of turn yet. */
  isTurnOpen: boolean;
}

/** What a loop needs of its surroundings. */
export interface LoopHost {
  /** Awaited for every AgentEvent: the place of the journal. A rejection ends the loop. */
  onEvent(event: AgentEvent): Promise<void>;
  permit(callId: string, tool: string, input: unknown): Promise<Permit>;
  /** Wait before the provider, which failed with `code`, is asked again; false where the wait does not fit into the idle window. */
  backOff(waitMs: number, nextTry: number, code: string): Promise<boolean>;
  signal: AbortSignal;
}

/**
 * Run pi's agent loop to its end. The one file that knows pi's loop: turns, retries and the closing turn are kept here, since pi has none.
 *
 * A model turn that failed in a way that may pass is requested again, at most five times in all; finished tools are never repeated by it. When turn
 * `maxTurns` still asks for tools, they run and one closing turn without tools follows.
 */
export async function runLoop(input: LoopInput, host: LoopHost): Promise<LoopEnding> {
  const loop = new AgentLoop(input, host);
  return await loop.run();
}

class AgentLoop {
  readonly #input: LoopInput;
  readonly #host: LoopHost;
  readonly #config: AgentLoopConfig;
  #messages: Message[];
  #turns: number;
  #isClosing: boolean;

  constructor(input: LoopInput, host: LoopHost) {
    this.#input = input;
    this.#host = host;
    this.#turns = input.turns;
    this.#messages = [...input.history];
    this.#isClosing = this.#isLimitReached() && this.#isInClosing(input.history.at(-1));
    this.#config = this.#toConfig();
  }

  async run(): Promise<LoopEnding> {
    const { onEvent } = this.#host;
    await onEvent({ type: "agent_start" });
    let prompts: Message[] = this.#input.prompt === undefined ? [] : [toUserMessage(this.#input.prompt)];
    if (this.#input.unfinished !== undefined) await this.#finishToolCalls(this.#input.unfinished);
    const last = this.#messages.at(-1);
    if (prompts.length === 0 && last?.role === "assistant") return await this.#endWith(last);
    if (this.#isClosing && this.#messages.at(-1)?.role !== "user")
      prompts = [toUserMessage(closingInstruction)];
    const ending = await this.#converse(prompts);
    await onEvent({ type: "agent_end", messages: [] });
    return ending;
  }

  /** End with an answer that an earlier attempt received and could not hand over. */
  async #endWith(last: AssistantMessage): Promise<LoopEnding> {
    if (this.#input.isTurnOpen)
      await this.#host.onEvent({ type: "turn_end", message: last, toolResults: [] });
    await this.#host.onEvent({ type: "agent_end", messages: [] });
    return this.#toEnding(last);
  }

  async #converse(firstPrompts: Message[]): Promise<LoopEnding> {
    let prompts = firstPrompts;
    for (let tries = 1; ; tries++) {
      const turnsBefore = this.#turns;
      const last = await this.#invoke(prompts);
      prompts = [];
      if (this.#turns > turnsBefore) tries = 1;
      if (last.stopReason === "aborted" || this.#host.signal.aborted) return { kind: "aborted" };
      if (last.stopReason !== "error") return this.#toEnding(last);
      const failure = this.#input.runtime.takeFailure(last);
      const waitMs = toRetryDelayMs(failure, tries, Math.random);
      if (waitMs === undefined) return { kind: "provider", failure, tries };
      if (!(await this.#host.backOff(waitMs, tries + 1, failure.code)))
        return { kind: "rate-limited", failure, waitMs };
      if (this.#host.signal.aborted) return { kind: "aborted" };
    }
  }

  /** Let pi's loop run until it stops by itself; keeps all of its messages but a failed last one. */
  async #invoke(prompts: Message[]): Promise<AssistantMessage> {
    const system = createInitialSystemMessage(this.#input.systemPrompt, this.#tools());
    const context: AgentContext = {
      messages: system === undefined ? [...this.#messages] : [system, ...this.#messages],
      tools: this.#tools(),
    };
    const streamFn = withUniqueCallIds(this.#input.runtime.streamFn);
    const emit = createEventFilter((event) => this.#host.onEvent(event));
    const added =
      prompts.length > 0
        ? await runAgentLoop(prompts, context, this.#config, emit, this.#host.signal, streamFn)
        : await runAgentLoopContinue(context, this.#config, emit, this.#host.signal, streamFn);
    const fresh = (added as Message[]).filter((message) => message.role !== "system");
    const last = fresh.at(-1);
    const failed = fresh.findLast((message): message is AssistantMessage => message.role === "assistant");
    if (failed === undefined)
      throw new Error(`the agent loop ended without an answer (last message: ${last?.role ?? "none"})`);
    const isFailed = failed.stopReason === "error" || failed.stopReason === "aborted";
    this.#messages.push(...(isFailed ? fresh.filter((message) => message !== failed) : fresh));
    return failed;
  }

  #tools(): AgentTool[] {
    return this.#isClosing ? [] : this.#input.tools;
  }

  #isLimitReached(): boolean {
    const { maxTurns } = this.#input;
    return maxTurns !== undefined && this.#turns >= maxTurns;
  }

  /** Whether a history that has used up its turns goes on with the closing turn, or ends with it. */
  #isInClosing(last: Message | undefined): boolean {
    if (last?.role === "toolResult") return true;
    if (last?.role === "user") return toText(last) === closingInstruction;
    return (
      last?.role === "assistant" &&
      (this.#input.isTurnOpen ? this.#isLimitReached() : this.#turns > (this.#input.maxTurns ?? 0))
    );
  }

  #toConfig(): AgentLoopConfig {
    const { runtime, thinkingLevel } = this.#input;
    return {
      model: runtime.model,
      ...(thinkingLevel === undefined || thinkingLevel === "off" ? {} : { reasoning: thinkingLevel }),
      convertToLlm: (messages) => messages as Message[],
      beforeToolCall: async ({ toolCall, args }) => await this.#askPermit(toolCall.id, toolCall.name, args),
      finishTurn: ({ message, toolResults }) => {
        if (message.stopReason === "error" || message.stopReason === "aborted") return undefined;
        this.#turns += 1;
        if (this.#isClosing) return { action: "end" };
        if (toolResults.length > 0 && this.#isLimitReached()) this.#isClosing = true;
        return undefined;
      },
      prepareNextTurn: ({ context }) =>
        this.#isClosing
          ? { context: { ...context, tools: [] }, messages: [toUserMessage(closingInstruction)] }
          : undefined,
    };
  }

  async #askPermit(
    callId: string,
    tool: string,
    input: unknown,
  ): Promise<{ block: true; reason: string } | undefined> {
    const permit = await this.#host.permit(callId, tool, input);
    return permit.isAllowed ? undefined : { block: true, reason: permit.reason };
  }

  /** Complete the results of a message whose calls were cut off by a lost worker: what may run again does, in the calls' order. */
  async #finishToolCalls({
    results,
    rerun,
  }: {
    results: ToolResultMessage[];
    rerun: string[];
  }): Promise<void> {
    const assistant = this.#messages.at(-1);
    if (assistant?.role !== "assistant") throw new Error("unfinished calls without their message");
    await this.#host.onEvent({ type: "turn_start" });
    const calls = assistant.content.filter((part) => part.type === "toolCall");
    const done = new Map(results.map((result) => [result.toolCallId, result]));
    const again = calls.filter((call) => rerun.includes(call.id));
    const run = async (call: (typeof calls)[number]) =>
      done.set(call.id, await this.#runAgain(call, assistant));
    const isSequential = again.some(
      (call) => this.#input.tools.find((tool) => tool.name === call.name)?.executionMode === "sequential",
    );
    if (isSequential) for (const call of again) await run(call);
    else await Promise.all(again.map(run));
    const ordered = calls.flatMap((call) => done.get(call.id) ?? []);
    this.#messages.push(...ordered);
    this.#turns += 1;
    if (this.#isLimitReached()) this.#isClosing = true;
    await this.#host.onEvent({ type: "turn_end", message: assistant, toolResults: ordered });
  }

  async #runAgain(
    toolCall: Extract<AssistantMessage["content"][number], { type: "toolCall" }>,
    assistantMessage: AssistantMessage,
  ) {
    const { onEvent, signal } = this.#host;
    const { id: toolCallId, name: toolName } = toolCall;
    await onEvent({ type: "tool_execution_start", toolCallId, toolName, args: toolCall.arguments });
    const { result, isError, durationMs } = await runToolCall(toolCall, {
      tools: this.#input.tools,
      assistantMessage,
      context: { messages: this.#messages, tools: this.#input.tools },
      signal,
      beforeToolCall: async ({ args }) => await this.#askPermit(toolCallId, toolName, args),
    });
    await onEvent({
      type: "tool_execution_end",
      toolCallId,
      toolName,
      result,
      isError,
      ...(durationMs === undefined ? {} : { durationMs }),
    });
    return toToolResult({ toolCallId, toolName, result, isError });
  }

  #toEnding(last: AssistantMessage): LoopEnding {
    const text = toText(last).trim();
    if (this.#isClosing) return { kind: "turn-limit", text };
    if (last.stopReason === "length") return { kind: "output-limit", text };
    return text === "" ? { kind: "no-report" } : { kind: "done", text };
  }
}

export function toToolResult(end: {
  toolCallId: string;
  toolName: string;
  result: { content: ToolResultMessage["content"] };
  isError: boolean;
}): ToolResultMessage {
  const { toolCallId, toolName, result, isError } = end;
  return {
    role: "toolResult",
    toolCallId,
    toolName,
    content: result.content,
    isError,
    timestamp: Date.now(),
  };
}

function toUserMessage(content: string): Message {
  return { role: "user", content, timestamp: Date.now() };
}
