import type { ByteBudget } from '../types.ts';

/** What one body has taken from its budget: nothing while it is small, and nothing of what has only been announced. */
export class Charge {
  readonly #budget: ByteBudget | undefined;
  #bytes = 0;

  constructor(budget: ByteBudget | undefined) {
    this.#budget = budget;
  }

  /** So many bytes of the body have arrived. @throws {ApiError} what the budget says */
  growTo(length: number): void {
    if (this.#budget === undefined || length <= this.#budget.free) return;
    this.#budget.take(length - this.#bytes);
    this.#bytes = length;
  }

  /** The body is whole: its reader gives back what it takes. */
  handOver(): void {
    this.#bytes = 0;
  }

  giveBack(): void {
    this.#budget?.give(this.#bytes);
    this.#bytes = 0;
  }
}
