import type { Plan } from '../../accounts/store/account-store.ts';
import { storeAway } from '../../accounts/store/committed.ts';
import { Layer } from '../../accounts/store/layer.ts';
import { currentSpan, inSpan, type PartOfSpan, type Span } from '../../runtime/spans.ts';

/** Marks the spans of PostgreSQL in a trace. */
export const inPostgres: PartOfSpan = { isCall: true, attributes: { 'db.system.name': 'postgresql' } };

/** A plan that waits for a transaction. */
export class WaitingPlan {
  /** Monotonic, ms. */
  readonly since: number;
  readonly done: Promise<unknown>;
  readonly #plan: Plan<unknown>;
  readonly #span = currentSpan();
  /** From the end of the plan to the end of the transaction. */
  #commit: Span | undefined;
  #resolve: (value: unknown) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #isSettled = false;

  constructor(plan: Plan<unknown>, since: number) {
    this.#plan = plan;
    this.since = since;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Whether the caller has been answered. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /**
   * Runs the plan on the current draft, and adds its writes.
   * @param canKeep whether the node can store writes
   * @returns a function that answers the caller
   */
  run(drafted: Layer, canKeep: boolean): () => void {
    const draft = new Layer(drafted);
    try {
      const result = inSpan(this.#span, () => this.#plan(draft));
      this.#commit ??= this.#span?.part('commit accounts', inPostgres);
      if (!draft.isEmpty && !canKeep) throw storeAway();
      if (!draft.isEmpty) drafted.write(draft.writes);
      return () => this.#settle(() => this.#resolve(result));
    } catch (error) {
      return () => this.refuse(error);
    }
  }

  refuse(error: unknown): void {
    this.#settle(() => this.#reject(error), error);
  }

  #settle(answer: () => void, error?: unknown): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#commit?.end(error);
    answer();
  }
}
