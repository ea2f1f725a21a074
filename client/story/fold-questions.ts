import {
  answerWithoutPerson,
  type PermissionQuestionRecord,
  permissionQuestionSchema,
  permissionRequestSchema,
} from "../../core/permission-questions.ts";
import type { SessionState } from "../../core/session.ts";

/** Keeps the questions of a session's history as the session itself does. */
export class QuestionFold {
  readonly #state: SessionState;

  constructor(state: SessionState) {
    this.#state = state;
  }

  ask(arg: unknown, atMs: number): void {
    const request = permissionRequestSchema.safeParse(arg).data;
    if (request === undefined || this.#state.questions.some(({ key }) => key === request.key)) return;
    this.#state.lastQuestion += 1;
    const id = `q-${this.#state.lastQuestion}`;
    this.#state.questions.push({ ...request, id, state: "open", askedAtMs: atMs });
    const isThere =
      request.chain === "main" ||
      this.#state.delegations.some(({ id: each, status }) => each === request.chain && status === "running");
    if (isThere) this.judge(atMs);
    else this.withdraw(request.chain, atMs);
  }

  /** Take an answer as the session took it. */
  answer(arg: unknown, outcome: unknown, atMs: number): void {
    const { question, hasTakenEffect } = (outcome ?? {}) as { question?: unknown; hasTakenEffect?: unknown };
    const answered = permissionQuestionSchema.safeParse(question).data;
    if (answered === undefined || hasTakenEffect !== true) return;
    this.#settle(
      ({ id }) => id === answered.id,
      () => ({ ...answered, answeredAtMs: atMs }),
    );
    const { forSession } = (arg ?? {}) as { forSession?: unknown };
    if (forSession !== true || answered.state !== "allowed") return;
    const { tool, target, by = "" } = answered;
    this.#state.allowances.push({ tool, target, by });
    this.judge(atMs);
  }

  /** Judge the open questions by the present mode and what was allowed for the session. */
  judge(atMs: number): void {
    const { permissionMode, allowances } = this.#state;
    this.#settle(
      () => true,
      (question) => {
        const answer = answerWithoutPerson(question, permissionMode, allowances);
        return answer === undefined ? question : { ...question, ...answer, answeredAtMs: atMs };
      },
    );
  }

  /** Close the questions of an agent that is not there any more. */
  withdraw(chain: string, atMs: number): void {
    this.#settle(
      (question) => question.chain === chain,
      (question) => ({ ...question, state: "withdrawn", answeredAtMs: atMs }),
    );
  }

  #settle(
    isMeant: (question: PermissionQuestionRecord) => boolean,
    change: (question: PermissionQuestionRecord) => PermissionQuestionRecord,
  ): void {
    this.#state.questions = this.#state.questions.map((question) =>
      question.state === "open" && isMeant(question) ? change(question) : question,
    );
  }
}
