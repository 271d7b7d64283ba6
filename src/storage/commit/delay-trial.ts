/** Number of packets in a phase. With random arrivals, the rates of two such phases differ by a tenth. */
const phasePackets = 256;
/** Maximum number of commits in a phase with delays. The limit ends a phase with few packets per commit. */
const phaseCommits = 64;
/**
 * Minimum rate of packets with delays, relative to the rate without delays. At a lower rate the trial fails, because
 * the senders evidently wait for their responses.
 */
const leastRate = 0.75;
/** Minimum number of packets per commit for which a delay is useful. */
const leastGain = 1.5;
/** Number of successful phases with delays after which a phase without delays measures the rate again. */
const delayedPhases = 16;
/**
 * Maximum interval between two commits of a phase, ms. After a longer pause of the senders or the disk, the phase
 * starts again.
 */
const idleMs = 100;
/**
 * Time without delays after a failed trial, ms: `first` after the first failure, then twice as long after each further
 * failure, up to `most`. Trials thus take less than a hundredth of the rate of a sender.
 */
const pauseMs = { first: 100, most: 2000 };

/**
 * Decides whether a lane (a queue of commits) delays its commits to collect more packets. A delay helps if there are
 * many independent senders. It slows down a sender that waits for a response before it sends the next packet. The lane
 * therefore tries delays: short phases without delays measure the normal rate, and a phase with delays is a trial. The
 * trial fails if packets arrive more slowly, or if few packets join each commit. The next trial is then later.
 */
export class DelayTrial {
  #isDelayed = true;
  /** Packets per millisecond of the last phase without delays. */
  #rate = 0;
  #pauseMs = pauseMs.first;
  /** Minimum duration of the current phase without delays, ms. */
  #leastMs = 0;
  /** Number of phases with delays until the next phase without delays. */
  #left = 1;
  #packets = 0;
  #commits = 0;
  #since = 0;
  #lastAt = Number.NEGATIVE_INFINITY;

  get isDelayed(): boolean {
    return this.#isDelayed;
  }

  /** Counts a commit that ended at `now`, monotonic ms. */
  committed(packets: number, now: number): void {
    const isIdle = now - this.#lastAt > idleMs;
    this.#lastAt = now;
    if (isIdle) {
      this.#start(now);
      return;
    }
    this.#packets += packets;
    this.#commits += 1;
    const ms = now - this.#since;
    if (this.#isDelayed ? !this.#isJudged(ms) : this.#packets < phasePackets || ms < this.#leastMs) return;
    if (this.#isDelayed) this.#judge(ms);
    else this.#begin(ms);
    this.#start(now);
  }

  #start(now: number): void {
    this.#packets = 0;
    this.#commits = 0;
    this.#since = now;
  }

  /** True if a phase with delays is over, or has clearly failed. */
  #isJudged(ms: number): boolean {
    if (this.#packets >= phasePackets || this.#commits >= phaseCommits) return true;
    const expected = this.#rate * ms;
    const isSlow = this.#commits >= 4 && expected >= phasePackets / 8 && this.#packets < expected / 2;
    return isSlow || (this.#commits >= phaseCommits / 4 && this.#packets < leastGain * this.#commits * 0.8);
  }

  #judge(ms: number): void {
    this.#left -= 1;
    const pays = this.#packets >= Math.max(leastRate * this.#rate * ms, leastGain * this.#commits);
    if (pays && this.#left > 0) return;
    this.#isDelayed = false;
    this.#leastMs = pays ? 0 : this.#pauseMs;
    this.#pauseMs = pays ? pauseMs.first : Math.min(2 * this.#pauseMs, pauseMs.most);
  }

  #begin(ms: number): void {
    this.#rate = this.#packets / ms;
    this.#isDelayed = true;
    this.#left = delayedPhases;
  }
}
