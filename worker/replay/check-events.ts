import {
  afterStart,
  answers,
  commands,
  endings,
  essentials,
  type Reference,
  references,
} from "./event-rules.ts";
import { EventType, HistoryError, type HistoryEvent, toTypeName } from "./history.ts";

type Attributes = Readonly<Record<string, unknown>>;
type TaskCompleted = NonNullable<HistoryEvent["workflowTaskCompletedEventAttributes"]>;

interface Checked {
  type: string;
  attributes: Attributes;
}

/** The workflow task that is scheduled or under way. */
interface OpenTask {
  scheduled: number;
  started?: number;
}

/**
 * See that the events of a history, numbered from 1, don't contradict one another. The SDK takes that for granted: it waits for ever for what a
 * history lacks, breaks off in its native code, or passes over what it does not understand. A history that goes on may end anywhere.
 *
 * @throws HistoryError that names the first event that can't be.
 */
export function checkEvents(events: readonly HistoryEvent[]): void {
  const checker = new Checker({ hasOwnIds: isOfTestServer(events) });
  for (const event of events) checker.add(event);
}

/**
 * Temporal's time-skipping test server numbers in its own way: it leaves ids out, or names events beside those that are meant. The SDK replays that
 * all the same.
 */
function isOfTestServer(events: readonly HistoryEvent[]): boolean {
  const completed = events.flatMap((event) => event.workflowTaskCompletedEventAttributes ?? []);
  return completed.length > 0 && completed.every(isWithoutStart);
}

function isWithoutStart({ scheduledEventId, startedEventId }: TaskCompleted): boolean {
  return toId(scheduledEventId) > 0 && toId(startedEventId) === 0;
}

class Checker {
  readonly #hasOwnIds: boolean;
  readonly #seen: Checked[] = [];
  /** What happens once, and by which event it did, such as `12 startedEventId`. */
  readonly #done = new Map<string, number>();
  #task: OpenTask | undefined;
  #completed = 0;

  constructor({ hasOwnIds }: { hasOwnIds: boolean }) {
    this.#hasOwnIds = hasOwnIds;
  }

  add(event: HistoryEvent): void {
    const checked = readEvent(event, this.#seen.length + 1);
    const { type } = checked;
    const last = this.#seen.at(-1);
    if (last !== undefined && endings.has(last.type)) {
      this.#refuse(type, `comes after ${last.type}, which ends a history`);
    }
    if (type === "WorkflowExecutionStarted" && last !== undefined) {
      this.#refuse(type, "can't be anywhere but at the beginning");
    }
    if (last?.type === "WorkflowTaskStarted" && !afterStart.has(type)) {
      this.#refuse(type, "comes between the start of a workflow task and its end");
    }
    if (!this.#hasOwnIds)
      for (const reference of references[type] ?? []) this.#checkReference(checked, reference);
    this.#checkCommand(checked);
    this.#followTask(checked);
    this.#seen.push(checked);
  }

  #refuse(type: string, text: string): never {
    throw new HistoryError(`event ${this.#seen.length + 1} (${type}) ${text}`);
  }

  #checkReference({ type, attributes }: Checked, { field, to, isOptional, isOnce, common }: Reference): void {
    const id = toId(attributes[field]);
    if (id === 0 && isOptional) return;
    if (id === 0) this.#refuse(type, `lacks its ${field}`);
    const named = this.#seen[id - 1];
    if (named === undefined || !to.includes(named.type)) {
      this.#refuse(type, `has ${field} ${id}, and that is no earlier ${to.join(" or ")}`);
    }
    if (common !== undefined && String(named.attributes[common]) !== String(attributes[common])) {
      this.#refuse(type, `has another ${common} than event ${id}, which it names as its ${field}`);
    }
    if (!isOnce) return;
    // A child begins once and ends once.
    const key = `${id} ${type.endsWith("Started")}`;
    const before = this.#done.get(key);
    if (before !== undefined) this.#refuse(type, `is about event ${id}, as event ${before} was already`);
    this.#done.set(key, this.#seen.length + 1);
  }

  #checkCommand({ type, attributes }: Checked): void {
    if (!commands.has(type) && !answers.has(type)) return;
    const id = toId(attributes.workflowTaskCompletedEventId);
    // Old servers went on like this by themselves when a run of a cron schedule took too long.
    if (type === "WorkflowExecutionContinuedAsNew" && id === 0 && attributes.workflowType) return;
    if (this.#task !== undefined || this.#completed === 0) {
      this.#refuse(type, "follows no completed workflow task, and only those make it");
    }
    if (!commands.has(type) || this.#hasOwnIds) return;
    if (id !== this.#completed) {
      const found = id === 0 ? "lacks its workflowTaskCompletedEventId" : `names workflow task ${id}`;
      this.#refuse(type, `${found}, yet the one before it was completed by event ${this.#completed}`);
    }
  }

  #followTask({ type, attributes }: Checked): void {
    const id = this.#seen.length + 1;
    const task = this.#task;
    if (type === "WorkflowTaskScheduled") {
      if (task !== undefined) this.#refuse(type, `comes while the task of event ${task.scheduled} is open`);
      this.#task = { scheduled: id };
      return;
    }
    if (!type.startsWith("WorkflowTask")) return;
    const scheduled = toId(attributes.scheduledEventId);
    if (task?.scheduled !== scheduled)
      this.#refuse(type, `is of the task of event ${scheduled}, which is over`);
    if (type === "WorkflowTaskStarted") {
      this.#task = { scheduled, started: id };
      return;
    }
    if (type === "WorkflowTaskCompleted") {
      if (task.started === undefined) this.#refuse(type, "ends a workflow task that has not started");
      this.#completed = id;
    }
    this.#task = undefined;
  }
}

/** An event's type and the attributes of that type. */
function readEvent(event: HistoryEvent, id: number): Checked {
  const type = toTypeName(event);
  const kinds = Object.entries(event).filter(([key, value]) => key.endsWith(ATTRIBUTES) && value);
  const own = `${type.charAt(0).toLowerCase()}${type.slice(1)}${ATTRIBUTES}`;
  const attributes = kinds.find(([key]) => key === own)?.[1] as Attributes | undefined;
  // What a later server adds and a worker may pass over.
  if (event.workerMayIgnore && kinds.length === 0) return { type, attributes: {} };
  if (!event.eventType || EventType[event.eventType] === undefined) {
    throw new HistoryError(`event ${id} is of a type that is not known`);
  }
  if (attributes === undefined) {
    throw new HistoryError(`event ${id} (${type}) has no ${own}, but ${kinds[0]?.[0] ?? "no attributes"}`);
  }
  const fields = essentials[type];
  if (fields !== undefined && !fields.some((field) => attributes[field])) {
    throw new HistoryError(`event ${id} (${type}) lacks its ${fields[0]}`);
  }
  return { type, attributes };
}

const ATTRIBUTES = "EventAttributes";

function toId(value: unknown): number {
  return Number(value ?? 0);
}
