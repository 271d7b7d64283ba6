import { Refusal } from '../../contract/errors.ts';
import type { ByteBudget } from '../../http/types.ts';
import { RoundRobin } from '../../runtime/fair-queue.ts';

/** Maximum size of bodies that are processed on arrival, without a charge to the budget. Most packets are smaller. */
const smallBody = 4096;

/** Bytes of large bodies processed per event loop iteration: a few milliseconds of work. */
const bytesPerTurn = 32 * 1024;

/** Maximum share of the budget for the waiting bodies of one sender. */
const ownShare = 1 / 2;

interface SizedBody {
  readonly length: number;
}

/**
 * Limits bodies that are large enough to delay other requests. They share a memory budget from their first byte until
 * they are processed. Each event loop iteration processes only a few large bodies, round robin over the senders.
 */
export class LargeBodies implements ByteBudget {
  readonly free = smallBody;
  held = 0;
  readonly #max: number;
  readonly #nextTurn: (callback: () => void) => unknown;
  /** Callbacks that resume waiting bodies, by sender. Their weight is the length of the body. */
  readonly #waiting = new RoundRobin<() => void>();
  /** Bytes processed in the current event loop iteration. */
  #begun = 0;

  /** @param max bytes @param nextTurn calls back in the next event loop iteration */
  constructor(max: number, nextTurn: (callback: () => void) => unknown = setImmediate) {
    this.#max = max;
    this.#nextTurn = nextTurn;
  }

  take(bytes: number): void {
    if (this.held + bytes > this.#max) throw tooMany();
    this.held += bytes;
  }

  give(bytes: number): void {
    this.held -= bytes;
  }

  /** Charges the budget for a body that the HTTP engine has not charged. @throws {Refusal} `backpressure` */
  hold({ length }: SizedBody): void {
    if (length > this.free) this.take(length);
  }

  release({ length }: SizedBody): void {
    if (length > this.free) this.give(length);
  }

  /** @returns `undefined` if a slot is free @throws {Refusal} `backpressure` if too many bytes of the sender wait */
  waitForSlot({ length }: SizedBody, sender: string): Promise<void> | undefined {
    if (length <= this.free) return undefined;
    if (this.#waiting.weight === 0 && this.#begun < bytesPerTurn) {
      this.#begin(length);
      return undefined;
    }
    return this.#wait(sender, length);
  }

  #wait(sender: string, bytes: number): Promise<void> {
    const own = this.#waiting.getWeight(sender);
    if (own > 0 && own + bytes > ownShare * this.#max) throw tooMany();
    return new Promise((go) => this.#waiting.add(sender, go, bytes));
  }

  #begin(bytes: number): void {
    if (this.#begun === 0) this.#nextTurn(() => this.#goOn());
    this.#begun += bytes;
  }

  #goOn(): void {
    this.#begun = 0;
    while (this.#begun < bytesPerTurn) {
      const next = this.#waiting.take(() => true);
      if (next === undefined) return;
      this.#begin(next.weight);
      next.item();
    }
  }
}

function tooMany(): Refusal {
  return new Refusal('backpressure', 'Too many large bodies are being processed', 1);
}
