/** Packets of a phase. The rates of two phases of random arrivals then differ by a tenth. */
const phasePackets = 256;
/** Commits of a phase with delays, which a single sender that waits for its answers ends sooner. */
const phaseCommits = 64;
/** Packets that were expected in a phase with delays when it ends early, if fewer than half of them have arrived. */
const enoughExpected = 32;
/** Rate of packets with delays, in relation to the rate without, below which senders wait for their answers. */
const leastRate = 0.8;
/** Packets per commit that are worth a delay. */
const leastGain = 1.5;
/** Phases with delays between two without, which measure the rate anew. */
const delayedPhases = 16;
/** Maximum number of phases without delays after a failed trial. */
const maxPause = 256;

/**
 * Decides whether the commits of a lane are delayed for more packets. Many senders that do not wait for each other gain by a delay.
 * A sender that sends its next packet after the last answer only loses. So phases with delays alternate with short ones without.
 * If packets arrive more slowly with delays, or no others join, then the next trial is later each time.
 */
export class DelayTrial {
  #isDelayed = true;
  /** Packets per millisecond of the last phase without delays. */
  #rate = 0;
  #pause = 1;
  /** Phases until the delays begin or are interrupted. */
  #left = 1;
  #packets = 0;
  #commits = 0;
  #since = Number.NaN;

  get isDelayed(): boolean {
    return this.#isDelayed;
  }

  /** Counts a commit that ended at `now`, monotonic ms. */
  committed(packets: number, now: number): void {
    if (Number.isNaN(this.#since)) this.#since = now;
    this.#packets += packets;
    this.#commits += 1;
    const ms = now - this.#since;
    if (!this.#isDelayed) {
      if (this.#packets < phasePackets) return;
      this.#rate = this.#packets / ms;
      this.#left -= 1;
      if (this.#left === 0) this.#delay(true, delayedPhases);
    } else {
      const expected = this.#rate * ms;
      const isHopeless = expected >= enoughExpected && this.#packets < expected / 2;
      if (!isHopeless && this.#packets < phasePackets && this.#commits < phaseCommits) return;
      this.#judge(this.#packets >= leastRate * expected && this.#packets >= leastGain * this.#commits);
    }
    this.#packets = 0;
    this.#commits = 0;
    this.#since = now;
  }

  #judge(pays: boolean): void {
    this.#pause = pays ? 1 : Math.min(2 * this.#pause, maxPause);
    this.#left -= 1;
    if (!pays) this.#delay(false, this.#pause);
    else if (this.#left === 0) this.#delay(false, 1);
  }

  #delay(isDelayed: boolean, phases: number): void {
    this.#isDelayed = isDelayed;
    this.#left = phases;
  }
}
