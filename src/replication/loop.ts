/** Does something again and again: after a pause, or as soon as someone rings. */
export class Loop {
  readonly #round: () => Promise<number>;
  #isRung = false;
  #wake: () => void = () => {};
  #running: Promise<void> = Promise.resolve();
  /** No other round begins. */
  isEnding = false;

  /** @param round must not throw; resolves with the longest pause before the next round, ms */
  constructor(round: () => Promise<number>) {
    this.#round = round;
  }

  start(): void {
    this.#running = this.#run();
  }

  ring(): void {
    this.#isRung = true;
    this.#wake();
  }

  /** Resolves when the round that is under way is over. */
  end(): Promise<void> {
    this.isEnding = true;
    this.ring();
    return this.#running;
  }

  async #run(): Promise<void> {
    while (!this.isEnding) await this.#pause(await this.#round());
  }

  async #pause(ms: number): Promise<void> {
    if (!this.#isRung && ms > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#wake = () => {};
    this.#isRung = false;
  }
}
