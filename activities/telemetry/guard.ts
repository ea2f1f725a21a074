/**
 * Carries out what telemetry does within code of others: a product's span processors, its meter.
 *
 * What throws there is said once and changes nothing: telemetry never decides about a run.
 */
export class Guard {
  readonly #say: (text: string) => void;
  #hasSpoken = false;

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  /** @returns undefined for what has thrown */
  attempt<Result>(act: () => Result): Result | undefined {
    try {
      return act();
    } catch (error) {
      if (!this.#hasSpoken) {
        this.#hasSpoken = true;
        this.#say(`telemetry failed, and the run goes on without: ${toText(error)}`);
      }
      return undefined;
    }
  }
}

function toText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
