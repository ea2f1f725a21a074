import type { AgentRunInput } from "../../core/agent-run.ts";
import { toModelLabel } from "../../core/definition.ts";
import {
  createDelegation,
  type Delegation,
  dropOldest,
  type Settlement,
  settleDelegation,
  settlementSchema,
  stopCauses,
} from "../../core/delegation.ts";
import { signalNames, updateNames } from "../../core/messages.ts";
import { permissionModeSchema } from "../../core/permissions.ts";
import {
  delegateInputSchema,
  type SessionInput,
  type SessionState,
  sessionInputSchema,
  sessionStateSchema,
  toInitialState,
} from "../../core/session.ts";
import type { Fact } from "./facts.ts";
import { QuestionFold } from "./fold-questions.ts";
import { TurnFold } from "./fold-turns.ts";
import type { Remark } from "./remark.ts";
import { toSettlement } from "./settlement.ts";

/** What a session's history tells, folded into the records that the session itself keeps, and what it keeps no record of. */
export interface SessionRecords {
  input: SessionInput | undefined;
  state: SessionState;
  isClosing: boolean;
  /** What each delegate was asked, as far as this history tells. */
  tasks: ReadonlyMap<string, AgentRunInput>;
  remarks: Remark[];
  end: Extract<Fact, { kind: "ended" }> | undefined;
  /** When this history begins; what was before is known from what the session carried. */
  beganAtMs: number;
  hasEarlierRuns: boolean;
  firstRunId: string;
}

/** Fold what a session's history tells into its records. */
export function foldSession(facts: readonly Fact[]): SessionRecords {
  const fold = new SessionFold();
  for (const fact of facts) fold.take(fact);
  return fold.records;
}

type FactOf<Kind extends Fact["kind"]> = Extract<Fact, { kind: Kind }>;

class SessionFold {
  readonly #tasks = new Map<string, AgentRunInput>();
  readonly #updates = new Map<string, FactOf<"update">>();
  readonly #activities = new Map<string, FactOf<"activity">>();
  readonly records: SessionRecords = {
    input: undefined,
    state: toInitialState("ask"),
    isClosing: false,
    tasks: this.#tasks,
    remarks: [],
    end: undefined,
    beganAtMs: 0,
    hasEarlierRuns: false,
    firstRunId: "",
  };
  #questions = new QuestionFold(this.records.state);
  #turns = new TurnFold(this.records.state);

  take(fact: Fact): void {
    this.#takeMessage(fact);
    this.#takeWork(fact);
    switch (fact.kind) {
      case "started":
        this.#start(fact);
        break;
      case "memo":
        if (this.#turns.end(fact.memo.turn, fact.atMs)) this.#questions.withdraw("main", fact.atMs);
        break;
      case "fault":
        this.#addFault(fact);
        break;
      case "ended":
        this.records.end = fact;
        break;
      default:
        break;
    }
  }

  #takeMessage(fact: Fact): void {
    switch (fact.kind) {
      case "update":
        this.#update(fact);
        break;
      case "updated":
        this.#answer(fact);
        break;
      case "signal":
        this.#signal(fact);
        break;
      case "signal-sent":
        this.#stop(fact);
        break;
      case "cancel-requested":
        this.records.isClosing = true;
        this.records.remarks.push(fact);
        break;
      default:
        break;
    }
  }

  #takeWork(fact: Fact): void {
    switch (fact.kind) {
      case "child":
        this.#delegate(fact);
        break;
      case "child-ended":
        this.#endChild(fact);
        break;
      case "activity":
        this.#activities.set(fact.id, fact);
        break;
      case "activity-started":
        this.#startActivity(fact);
        break;
      case "activity-ended":
        this.#endActivity(fact);
        break;
      default:
        break;
    }
  }

  get #state(): SessionState {
    return this.records.state;
  }

  #start({ atMs, args, firstRunId, isContinued }: FactOf<"started">): void {
    const input = sessionInputSchema.safeParse(args[0]).data;
    const carried = args[1] === undefined ? undefined : toCarried(args[1]);
    this.records.input = input;
    this.records.state = carried ?? toInitialState(input?.permissionMode ?? "ask");
    this.#questions = new QuestionFold(this.records.state);
    this.#turns = new TurnFold(this.records.state);
    this.records.beganAtMs = atMs;
    this.records.firstRunId = firstRunId;
    this.records.hasEarlierRuns = isContinued;
  }

  #update(fact: FactOf<"update">): void {
    this.#updates.set(fact.eventId, fact);
    if (fact.name === updateNames.setPermissionMode) this.#setMode(fact);
    if (fact.name !== updateNames.close || this.records.isClosing) return;
    this.records.isClosing = true;
    this.records.remarks.push({ atMs: fact.atMs, kind: "closing" });
  }

  #setMode({ atMs, arg }: FactOf<"update">): void {
    const mode = permissionModeSchema.safeParse((arg as { mode?: unknown } | undefined)?.mode).data;
    if (mode === undefined) return;
    this.#state.permissionMode = mode;
    this.records.remarks.push({ atMs, kind: "mode", mode });
    this.#questions.judge(atMs);
  }

  #answer({ atMs, acceptedId, outcome }: FactOf<"updated">): void {
    const update = this.#updates.get(acceptedId);
    if (update?.name === updateNames.send) this.#turns.open(update.arg, outcome, update.atMs);
    if (update?.name === updateNames.answerPermission) this.#questions.answer(update.arg, outcome, atMs);
    if (update?.name === updateNames.taskWait) this.#handOver(update.arg, outcome);
    if (update?.name === updateNames.task) this.#nameCall(update.arg, outcome);
  }

  #handOver(arg: unknown, outcome: unknown): void {
    if ((arg as { isObserver?: unknown } | undefined)?.isObserver === true) return;
    const { targets } = (outcome ?? {}) as { targets?: { id: string; status: string }[] };
    for (const target of targets ?? []) {
      if (target.status !== "running")
        this.#change(target.id, (record) => ({ ...record, isHandedOver: true }));
    }
  }

  #nameCall(arg: unknown, outcome: unknown): void {
    const { callKey } = (arg ?? {}) as { callKey?: unknown };
    const { delegationId } = (outcome ?? {}) as { delegationId?: unknown };
    if (typeof callKey !== "string" || typeof delegationId !== "string") return;
    this.#change(delegationId, (record) => ({ callKey, ...record }));
  }

  #signal({ atMs, name, arg }: FactOf<"signal">): void {
    if (name === signalNames.permissionAsked) this.#questions.ask(arg, atMs);
    if (name !== signalNames.delegateSettled) return;
    const settlement = settlementSchema.safeParse(arg).data;
    if (settlement !== undefined) this.#settle(settlement, atMs);
  }

  #stop({ atMs, workflowId, name, arg }: FactOf<"signal-sent">): void {
    const id = toDelegationId(workflowId);
    const cause = stopCauses.find((each) => each === (arg as { cause?: unknown } | undefined)?.cause);
    const record = this.#find(id);
    if (name !== signalNames.stop || cause === undefined || record?.stopRequested !== undefined) return;
    this.#change(id, (known) => ({ ...known, stopRequested: cause }));
    this.records.remarks.push({ atMs, kind: "stop-requested", id, cause });
  }

  #delegate({ atMs, workflowId, arg, memo }: FactOf<"child">): void {
    const input = delegateInputSchema.safeParse(arg).data;
    const id = toDelegationId(workflowId);
    const number = Number(/^task-(\d+)$/.exec(id)?.[1]);
    if (input === undefined || !Number.isInteger(number)) return;
    const { run } = input;
    this.#tasks.set(id, run);
    this.#state.lastDelegation = Math.max(this.#state.lastDelegation, number);
    const record = createDelegation({
      number,
      agent: run.agent,
      description: typeof memo.description === "string" ? memo.description : "",
      callKey: undefined,
      resumedFrom: run.resumeFrom,
      definitionFingerprint: `${run.instructions?.sha256 ?? ""}:${run.tools.join(",")}:${run.permission.scope}`,
      model: toModelLabel(run.model),
      tools: run.tools,
      nowMs: atMs,
    });
    this.#state.delegations.push(record);
  }

  #endChild({ atMs, workflowId, how, result, message }: FactOf<"child-ended">): void {
    const id = toDelegationId(workflowId);
    const record = this.#find(id);
    if (record !== undefined) this.#settle(toSettlement(record, how, result, message), atMs);
  }

  #settle(settlement: Settlement, atMs: number): void {
    const id = settlement.delegationId;
    if (this.#find(id)?.status !== "running") return;
    this.#change(id, (record) => settleDelegation(record, settlement, atMs));
    this.#state.delegations = dropOldest(this.#state.delegations);
    this.#questions.withdraw(id, atMs);
  }

  #startActivity({ atMs, id, attempt, lastFailure }: FactOf<"activity-started">): void {
    if (attempt <= 1 || this.#activities.get(id)?.type !== "runAgent") return;
    const before = lastFailure ?? "";
    this.records.remarks.push({ atMs, kind: "attempt", id: "main", attempt, before });
  }

  #endActivity({ id, how, result, message }: FactOf<"activity-ended">): void {
    const activity = this.#activities.get(id);
    if (activity?.type === "salvageRun") this.#salvage(activity.arg, result);
    if (activity?.type === "runAgent") this.#turns.takeOutcome(result, how === "completed" ? "" : message);
  }

  /** A delegate that could not speak for itself has left something in the state folder. */
  #salvage(arg: unknown, result: unknown): void {
    const { chain } = (arg ?? {}) as { chain?: unknown };
    const remains = settlementSchema
      .pick({ report: true, turns: true, toolCalls: true, usage: true })
      .safeParse(result).data;
    if (remains !== undefined) this.#change(String(chain), (record) => ({ ...record, ...remains }));
  }

  /** A step that can't be carried out is tried for ever: the same fault again only counts. */
  #addFault({ atMs, message }: FactOf<"fault">): void {
    // What the server calls a failed step although an update only came in between.
    if (message === "" || /UnhandledCommand/.test(message)) return;
    const last = this.records.remarks.at(-1);
    if (last?.kind === "fault" && last.message === message) last.times += 1;
    else this.records.remarks.push({ atMs, kind: "fault", message, times: 1 });
  }

  #find(id: string): Delegation | undefined {
    return this.#state.delegations.find((record) => record.id === id);
  }

  #change(id: string, change: (record: Delegation) => Delegation): void {
    this.#state.delegations = this.#state.delegations.map((record) =>
      record.id === id ? change(record) : record,
    );
  }
}

function toDelegationId(workflowId: string): string {
  return workflowId.slice(workflowId.lastIndexOf("/") + 1);
}

/** What an earlier version carried may lack what came later. */
function toCarried(state: unknown): SessionState | undefined {
  return sessionStateSchema.safeParse({ ...toInitialState("ask"), ...(state as object) }).data;
}
