import type { MessageIdentity } from './message-identity.ts';

const firstSlots = 1024;
const wordsPerSlot = 4;
/** Slots that a message is looked for in. At most half of all are taken, so only who means to fills as many in a row. */
const mostProbes = 128;

/**
 * When messages were counted, in arrays of numbers: they are nothing to the garbage collector, and hundreds of thousands
 * of strings in a map are. A message lies in the slot that its second word names, or soon after. Where somebody has sent
 * messages that all belong in one place, a new one takes the place of another there.
 */
export class MessageTable {
  /** Messages that are in the table. */
  size = 0;
  private words = new Uint32Array(firstSlots * wordsPerSlot);
  /** Unix ms by slot; NaN where it is free. */
  private times = new Float64Array(firstSlots).fill(Number.NaN);

  /** When the message was put. */
  get(identity: MessageIdentity): number | undefined {
    const slot = this.slotOf(identity);
    return this.isFree(slot) || !this.holds(slot, identity) ? undefined : this.times[slot];
  }

  /** Puts the message with a time, which is no NaN. */
  set(identity: MessageIdentity, time: number): void {
    if (this.size * 2 >= this.times.length) this.grow();
    const slot = this.slotOf(identity);
    if (this.isFree(slot)) this.size += 1;
    const [a, b, c, d] = identity;
    const at = slot * wordsPerSlot;
    const { words } = this;
    words[at] = a;
    words[at + 1] = b;
    words[at + 2] = c;
    words[at + 3] = d;
    this.times[slot] = time;
  }

  /** The slot that the message is in, or else the one that it would be put into. */
  private slotOf(identity: MessageIdentity): number {
    const first = identity[1];
    const last = this.times.length - 1;
    for (let probe = 0; probe < mostProbes; probe += 1) {
      const slot = (first + probe) & last;
      if (this.isFree(slot) || this.holds(slot, identity)) return slot;
    }
    return first & last;
  }

  private isFree(slot: number): boolean {
    return Number.isNaN(this.times[slot]);
  }

  private holds(slot: number, [a, b, c, d]: MessageIdentity): boolean {
    const at = slot * wordsPerSlot;
    const { words } = this;
    return words[at] === a && words[at + 1] === b && words[at + 2] === c && words[at + 3] === d;
  }

  private grow(): void {
    const { words, times } = this;
    this.words = new Uint32Array(words.length * 2);
    this.times = new Float64Array(times.length * 2).fill(Number.NaN);
    this.size = 0;
    for (let slot = 0; slot < times.length; slot += 1) {
      if (Number.isNaN(times[slot])) continue;
      const at = slot * wordsPerSlot;
      this.set([words[at]!, words[at + 1]!, words[at + 2]!, words[at + 3]!], times[slot]!);
    }
  }
}
