export interface Arriving {
  /** Bytes received. */
  received: number;
  /** Called once, when the body misses its deadline. */
  giveUp(): void;
}

/** Seconds allowed for every body, and the bytes that add another second. A client at 4 kB/s is slow but honest. */
const graceSeconds = 30;
const bytesPerSecond = 2_048;

/** Limits the total time of a body. A client that trickles bytes must not hold memory indefinitely. */
export class BodyDeadlines {
  readonly #arriving = new Map<Arriving, number>();
  readonly #timer: NodeJS.Timeout;
  #seconds = 0;

  /** @param secondMs length of a second; shorter in a test */
  constructor(secondMs = 1_000) {
    this.#timer = setInterval(() => this.tick(), secondMs).unref();
  }

  begin(body: Arriving): void {
    this.#arriving.set(body, this.#seconds);
  }

  end(body: Arriving): void {
    this.#arriving.delete(body);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Called every second. */
  tick(): void {
    this.#seconds += 1;
    for (const [body, begun] of this.#arriving) {
      if (this.#seconds - begun <= graceSeconds + body.received / bytesPerSecond) continue;
      this.#arriving.delete(body);
      body.giveUp();
    }
  }
}
