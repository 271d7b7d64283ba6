import type { ByteBudget } from '../types.ts';

/** The budget charged for one body. Only received bytes are charged, and none of a small body. */
export class Charge {
  readonly #budget: ByteBudget | undefined;
  #bytes = 0;

  constructor(budget: ByteBudget | undefined) {
    this.#budget = budget;
  }

  /** @param length received bytes @throws {ApiError} the budget's error */
  growTo(length: number): void {
    if (this.#budget === undefined || length <= this.#budget.free) return;
    this.#budget.take(length - this.#bytes);
    this.#bytes = length;
  }

  /** Marks the body as complete: from now on its reader returns the charge. */
  handOver(): void {
    this.#bytes = 0;
  }

  giveBack(): void {
    this.#budget?.give(this.#bytes);
    this.#bytes = 0;
  }
}
