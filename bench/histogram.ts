/** Linear steps within each power of two: 128 keeps every quantile within 0.8 % of the true value. */
const stepBits = 7;
const steps = 1 << stepBits;
/** Slots for every value below 2^31. */
const slots = (31 - stepBits + 1) * steps;

/** Counts durations in log-linear slots: constant memory, and quantiles within 0.8 %, or 1 µs where that is more. */
export class Histogram {
  readonly #counts = new Uint32Array(slots);
  #total = 0;

  /** @param milliseconds from 0 to 35 minutes; values outside are clamped. */
  record(milliseconds: number): void {
    const micros = Math.min(Math.max(Math.round(milliseconds * 1000), 0), 0x7fffffff);
    this.#counts[slotOf(micros)]!++;
    this.#total++;
  }

  /** The duration in milliseconds at quantile `q` (0 … 1); 0 if empty. */
  quantile(q: number): number {
    const rank = Math.max(1, Math.ceil(q * this.#total));
    let seen = 0;
    for (let slot = 0; slot < slots; slot++) {
      seen += this.#counts[slot]!;
      if (seen >= rank) return middleOf(slot) / 1000;
    }
    return 0;
  }
}

function slotOf(micros: number): number {
  if (micros < steps) return micros;
  const shift = 31 - Math.clz32(micros) - stepBits;
  return shift * steps + (micros >> shift);
}

function middleOf(slot: number): number {
  if (slot < 2 * steps) return slot;
  const shift = (slot >> stepBits) - 1;
  const low = (slot - shift * steps) * 2 ** shift;
  return low + (2 ** shift - 1) / 2;
}
