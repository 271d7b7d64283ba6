import type { ByteBudget } from '../types.ts';

/** What one body has taken from its budget. Only bytes that have arrived are charged, and none of a small body. */
export class Charge {
  readonly #budget: ByteBudget | undefined;
  #bytes = 0;

  constructor(budget: ByteBudget | undefined) {
    this.#budget = budget;
  }

  /** @param length the bytes that have arrived @throws {ApiError} what the budget says */
  growTo(length: number): void {
    if (this.#budget === undefined || length <= this.#budget.free) return;
    this.#budget.take(length - this.#bytes);
    this.#bytes = length;
  }

  /** The body is whole: from now on its reader gives back the charge. */
  handOver(): void {
    this.#bytes = 0;
  }

  giveBack(): void {
    this.#budget?.give(this.#bytes);
    this.#bytes = 0;
  }
}
