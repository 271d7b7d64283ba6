/** Delays actions. Keeps the order of the actions even if the delay changes. */
export class Lane {
  readonly #waiting: { readonly due: number; readonly act: () => void }[] = [];

  push(act: () => void, delayMs: number): void {
    if (delayMs === 0 && this.#waiting.length === 0) {
      act();
      return;
    }
    const due = Math.max(performance.now() + delayMs, this.#waiting.at(-1)?.due ?? 0);
    this.#waiting.push({ due, act });
    if (this.#waiting.length === 1) this.#wait();
  }

  #wait(): void {
    const [first] = this.#waiting;
    if (first !== undefined) setTimeout(() => this.#actOnDue(), Math.max(0, first.due - performance.now()));
  }

  #actOnDue(): void {
    const now = performance.now();
    while (this.#waiting[0] !== undefined && this.#waiting[0].due <= now) this.#waiting.shift()?.act();
    this.#wait();
  }
}
