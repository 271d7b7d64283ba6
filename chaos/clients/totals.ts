import { type CountedRequest, Digits } from './digits.ts';

/** A series of a feature or metric. Its sum identifies the counted requests. */
export interface Total {
  readonly kind: 'feature' | 'metric';
  /** Name of the feature or the metric. */
  readonly name: string;
  readonly variant: string;
  readonly digits: Digits;
}

/** The requests of one sender. Each series is used by fifteen requests. */
export class Sender {
  readonly #kind: Total['kind'];
  readonly #name: string;
  readonly #totals: Total[] = [];

  constructor(kind: Total['kind'], name: string) {
    this.#kind = kind;
    this.#name = name;
  }

  get totals(): readonly Total[] {
    return this.#totals;
  }

  next(): CountedRequest &
    Pick<Total, 'name' | 'variant'> & { readonly settle: (outcome: CountedRequest['outcome']) => void } {
    let total = this.#totals.at(-1);
    if (total === undefined || total.digits.isFull) {
      const variant = `block-${this.#totals.length}`;
      const name = this.#kind === 'metric' ? `${this.#name}-${variant}` : this.#name;
      total = { kind: this.#kind, name, variant, digits: new Digits() };
      this.#totals.push(total);
    }
    const request = total.digits.next();
    const settle = (outcome: CountedRequest['outcome']) => {
      request.outcome = outcome;
      request.at = Date.now();
    };
    return { ...request, name: total.name, variant: total.variant, settle };
  }
}
