/** Repeats an action after a pause, or at once when rung. */
export class Loop {
  readonly #round: () => Promise<number>;
  #isRung = false;
  #wake: () => void = () => {};
  #running: Promise<void> = Promise.resolve();
  /** No further round starts. */
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

  /** Resolves when the current round has finished. */
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
