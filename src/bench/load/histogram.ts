/** Bits for linear steps within each power of two. 128 steps keep quantiles within 0.8 % of the true value. */
const stepBits = 7;
const steps = 1 << stepBits;
/** Number of slots for all values below 2^31. */
const slots = (31 - stepBits + 1) * steps;

/** Quantiles in milliseconds; 0 for an empty histogram. */
export interface Quantiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/**
 * Counts durations in log-linear slots, as an HDR histogram does. The memory is constant, and quantiles are precise to
 * 0.8 % or 1 µs, whichever is more.
 */
export class Histogram {
  /** Counts by slot. Another thread can create a histogram from these counts. */
  readonly counts: Uint32Array;

  constructor(counts: Uint32Array = new Uint32Array(slots)) {
    this.counts = counts;
  }

  /** @param milliseconds duration from 0 to 35 minutes; other values are clamped */
  record(milliseconds: number): void {
    const micros = Math.min(Math.max(Math.round(milliseconds * 1000), 0), 0x7fffffff);
    this.counts[findSlot(micros)]!++;
  }

  add({ counts }: Histogram): void {
    for (let slot = 0; slot < slots; slot++) this.counts[slot]! += counts[slot]!;
  }

  /** Returns the duration in milliseconds at quantile `q` (0 … 1); 0 if empty. */
  quantile(q: number): number {
    const total = this.counts.reduce((sum, count) => sum + count, 0);
    const rank = Math.max(1, Math.ceil(q * total));
    let seen = 0;
    for (let slot = 0; slot < slots; slot++) {
      seen += this.counts[slot]!;
      if (seen >= rank) return computeMiddle(slot) / 1000;
    }
    return 0;
  }

  quantiles(): Quantiles {
    return {
      p50: this.quantile(0.5),
      p90: this.quantile(0.9),
      p99: this.quantile(0.99),
      p999: this.quantile(0.999),
      max: this.quantile(1),
    };
  }

  /** Returns the middle (milliseconds) and the count of each slot that is not empty, in ascending order. */
  distribution(): (readonly [ms: number, count: number])[] {
    const found: (readonly [number, number])[] = [];
    this.counts.forEach((count, slot) => {
      if (count > 0) found.push([computeMiddle(slot) / 1000, count]);
    });
    return found;
  }
}

function findSlot(micros: number): number {
  if (micros < steps) return micros;
  const shift = 31 - Math.clz32(micros) - stepBits;
  return shift * steps + (micros >> shift);
}

function computeMiddle(slot: number): number {
  if (slot < 2 * steps) return slot;
  const shift = (slot >> stepBits) - 1;
  const low = (slot - shift * steps) * 2 ** shift;
  return low + (2 ** shift - 1) / 2;
}
