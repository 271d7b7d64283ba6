export interface Arriving {
  /** Bytes so far. */
  received: number;
  /** Called once, when the body has missed its deadline. */
  giveUp(): void;
}

/** Seconds that every body may take, and the bytes that add another second: a client at 4 kB/s is slow but honest. */
const graceSeconds = 30;
const bytesPerSecond = 2_048;

/** Bounds the total time of a body: a client that sends a byte now and then must not hold its memory for ever. */
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

  /** One second has passed. */
  tick(): void {
    this.#seconds += 1;
    for (const [body, begun] of this.#arriving) {
      if (this.#seconds - begun <= graceSeconds + body.received / bytesPerSecond) continue;
      this.#arriving.delete(body);
      body.giveUp();
    }
  }
}
