import { Digits, type Part } from './digits.ts';

/** A series of features or metrics whose sum identifies each request. */
export interface Tally {
  readonly kind: 'feature' | 'metric';
  /** The feature, or the metric. */
  readonly name: string;
  readonly variant: string;
  readonly digits: Digits;
}

/** The requests of one sender, in a series for every fifteen of them. */
export class Sender {
  readonly #kind: Tally['kind'];
  readonly #name: string;
  readonly #tallies: Tally[] = [];

  constructor(kind: Tally['kind'], name: string) {
    this.#kind = kind;
    this.#name = name;
  }

  get tallies(): readonly Tally[] {
    return this.#tallies;
  }

  next(): Part & Pick<Tally, 'name' | 'variant'> & { readonly settle: (outcome: Part['outcome']) => void } {
    let tally = this.#tallies.at(-1);
    if (tally === undefined || tally.digits.isFull) {
      const variant = `block-${this.#tallies.length}`;
      const name = this.#kind === 'metric' ? `${this.#name}-${variant}` : this.#name;
      tally = { kind: this.#kind, name, variant, digits: new Digits() };
      this.#tallies.push(tally);
    }
    const part = tally.digits.next();
    const settle = (outcome: Part['outcome']) => {
      part.outcome = outcome;
      part.at = Date.now();
    };
    return { ...part, name: tally.name, variant: tally.variant, settle };
  }
}
