import {
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import type { AgentRunInput, AgentRunOutcome } from "../../core/agent-run.ts";
import { addUsage, noUsage, type Usage } from "../../core/status.ts";
import { type TraceContext, toTraceContext } from "../../core/trace-context.ts";
import { readOwnPackage } from "../own-package.ts";
import type { RequestEnding } from "../thread/protocol.ts";
import type { Guard } from "./guard.ts";
import {
  type AttemptPlace,
  toAnswerAttributes,
  toModelName,
  toRequestAttributes,
  toRunAttributes,
  toSpanWord,
  toToolAttributes,
  toToolName,
  toUsageAttributes,
} from "./span-attributes.ts";
import { toParentContext } from "./span-context.ts";

/** How an attempt came to its end, for its spans: a status or a code, and whether that is an error. */
export interface TraceEnding {
  word: string;
  isError: boolean;
}

/**
 * The spans of one attempt of a run: `invoke_agent`, under it a `chat` for each request to the provider and an `execute_tool` for each call.
 *
 * Made on the main thread of what the agent thread tells, so that a thread that is blocked or terminated leaves no span open. Where the process has
 * registered no OpenTelemetry SDK every span is an empty one, and a trace from elsewhere is passed on as it came.
 */
export class RunTrace {
  /** Whether spans are made here: then the agent thread tells of its requests. */
  readonly isOn: boolean;
  readonly #run: AgentRunInput;
  readonly #guard: Guard;
  readonly #tracer = trace.getTracer("temporal-subagents", readOwnPackage().version);
  readonly #span: Span;
  readonly #tools = new Map<string, Span>();
  readonly #questions = new Map<string, Span>();
  readonly #denied = new Set<string>();
  #request: { span: Span; startedAtMs: number; hasSpoken: boolean } | undefined;
  #tries = 1;
  #usage: Usage = noUsage;
  #isOver = false;

  constructor(run: AgentRunInput, place: AttemptPlace, guard: Guard) {
    this.#run = run;
    this.#guard = guard;
    const parent = toParentContext(run.trace);
    const attributes = toRunAttributes(run, place);
    this.#span = this.#tracer.startSpan(`invoke_agent ${toSpanWord(run.agent)}`, { attributes }, parent);
    const own = this.#span.spanContext();
    this.isOn = isSpanContextValid(own) && own.spanId !== trace.getSpanContext(parent)?.spanId;
  }

  /** @returns what the request carries to the provider */
  startRequest(): TraceContext | undefined {
    if (!this.isOn || this.#isOver) return undefined;
    // Requests follow each other: one whose end was never told has ended all the same.
    this.#request?.span.end();
    const span = this.#startUnder(this.#span, `chat ${toModelName(this.#run.model)}`, {
      kind: SpanKind.CLIENT,
      attributes: toRequestAttributes(this.#run, this.#tries),
    });
    this.#request = { span, startedAtMs: performance.now(), hasSpoken: false };
    return toTraceContext(span.spanContext());
  }

  /** Called for every token: does nothing but for a request's first. */
  hear(): void {
    if (this.#request === undefined || this.#request.hasSpoken) return;
    this.#request.hasSpoken = true;
    const seconds = (performance.now() - this.#request.startedAtMs) / 1000;
    this.#request.span.setAttribute("gen_ai.response.time_to_first_chunk", seconds);
  }

  endRequest(ending: RequestEnding): void {
    const span = this.#request?.span;
    if (span === undefined) return;
    this.#request = undefined;
    this.#tries += 1;
    if (ending.code === undefined) this.#tries = 1;
    this.#usage = addUsage(this.#usage, ending.usage);
    span.setAttributes(toAnswerAttributes(ending));
    if (ending.code !== undefined) setError(span, ending.code);
    else if (ending.stopReason === "aborted") span.setAttribute("subagents.interrupted", "cancelled");
    span.end();
  }

  startTool(callId: string, tool: string): void {
    if (!this.isOn || this.#isOver) return;
    const attributes = toToolAttributes(this.#run, tool, callId);
    const name = `execute_tool ${toToolName(tool)}`;
    this.#tools.set(callId, this.#startUnder(this.#span, name, { attributes }));
  }

  endTool(callId: string, isError: boolean): void {
    const span = this.#tools.get(callId);
    if (span === undefined) return;
    this.#tools.delete(callId);
    if (isError) setError(span, this.#denied.has(callId) ? "permission_denied" : "tool_error");
    span.end();
  }

  openQuestion(callId: string, tool: string): void {
    const parent = this.#tools.get(callId);
    if (parent === undefined) return;
    const name = `ask_permission ${toToolName(tool)}`;
    this.#questions.set(callId, this.#startUnder(parent, name, {}));
  }

  /** Close what was asked about a call, if anything was, and mark a call that was denied. */
  endPermit(callId: string, isAllowed: boolean): void {
    const question = this.#questions.get(callId);
    this.#questions.delete(callId);
    question?.setAttribute("subagents.permission", isAllowed ? "allowed" : "denied");
    question?.end();
    if (isAllowed) return;
    this.#denied.add(callId);
    this.#tools.get(callId)?.setAttribute("subagents.permission", "denied");
  }

  /** What belongs under a tool's call: the delegate that a Task starts, the processes of a command. */
  toolContext(callId: string): TraceContext | undefined {
    return toTraceContext((this.#tools.get(callId) ?? this.#span).spanContext());
  }

  /** End what is under way as the attempt comes to its end; nothing begins after that. */
  interrupt(ending: TraceEnding): void {
    this.#isOver = true;
    const open = [...this.#questions.values(), ...this.#tools.values(), this.#request?.span];
    // Each on its own: one that can't be ended leaves no other open.
    for (const span of open) this.#guard.attempt(() => cutOff(span, ending));
    this.#questions.clear();
    this.#tools.clear();
    this.#request = undefined;
  }

  end(
    ending: TraceEnding,
    counts: Pick<AgentRunOutcome, "turns" | "toolCalls">,
    code: string | undefined,
  ): void {
    this.interrupt(ending);
    this.#span.setAttributes({
      "subagents.status": ending.word,
      ...(code === undefined ? {} : { "subagents.code": code }),
      "subagents.turns": counts.turns,
      "subagents.tool_calls": counts.toolCalls,
      ...toUsageAttributes(this.#usage),
    });
    if (ending.isError) setError(this.#span, code ?? ending.word);
    this.#span.end();
  }

  #startUnder(parent: Span, name: string, options: SpanOptions): Span {
    return this.#tracer.startSpan(name, options, trace.setSpan(ROOT_CONTEXT, parent));
  }
}

function cutOff(span: Span | undefined, { word, isError }: TraceEnding): void {
  if (isError && span !== undefined) setError(span, word);
  else span?.setAttribute("subagents.interrupted", word);
  span?.end();
}

/** By its kind alone: an error's text may hold anything. */
function setError(span: Span, type: string): void {
  span.setAttribute("error.type", type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
