import { JoinRefused, join } from './join.ts';
import type { NodeParts, Refuses } from './node-parts.ts';
import { maxSkewMs } from './postgres/shared-clock.ts';
import type { Streams } from './streams.ts';

/** Between two attempts to take the directory's row back. */
const againMs = 30_000;

type MembershipParts = Pick<NodeParts, 'facts' | 'link' | 'clock' | 'log'>;

/** Whether this process is the one that the engine knows for its data directory. */
export class Membership {
  readonly #parts: MembershipParts;
  readonly #streams: Streams;
  isJoined = false;
  /** Another process uses a copy of the directory. */
  #isCopied = false;
  #again = 0;
  #isSkewed = false;

  constructor(parts: MembershipParts, streams: Streams) {
    this.#parts = parts;
    this.#streams = streams;
  }

  /** Why this node may not count, though its disk takes it. */
  get refuses(): Refuses | undefined {
    const { all, own } = this.#streams;
    if (this.#isCopied || all.some(({ held }) => held === 'foreign')) return 'copied';
    return own.held === 'closed' ? 'closed' : undefined;
  }

  /** @throws {JoinRefused} @throws {PostgresError} */
  async join(): Promise<void> {
    const { facts, link, clock, log } = this.#parts;
    await join(link, clock, facts);
    this.isJoined = true;
    log.info('joined the engine', { node: facts.name, directory: facts.directory });
  }

  /**
   * The directory's row is of this process, or not: it is gone, because the engine went back, or another process has it.
   * @param skewMs how far this machine's clock is ahead of PostgreSQL's
   * @returns whether the row was taken back: what the engine has just said is of before
   */
  async keep(isOurs: boolean, skewMs: number): Promise<boolean> {
    this.#watchClock(skewMs);
    if (isOurs) this.#isCopied = false;
    return !isOurs && this.#parts.clock.monotonic() >= this.#again && (await this.#joinAgain());
  }

  #watchClock(skewMs: number): void {
    const isSkewed = Math.abs(skewMs) > maxSkewMs;
    if (isSkewed === this.#isSkewed) return;
    this.#isSkewed = isSkewed;
    const skew = { skewMs: Math.round(skewMs) };
    const next = "this node manages nothing until it is; counting continues by PostgreSQL's time";
    if (isSkewed)
      this.#parts.log.error('the clock of this machine is wrong: correct it (NTP)', { ...skew, next });
    else this.#parts.log.info('the clock of this machine is right again', skew);
  }

  async #joinAgain(): Promise<boolean> {
    this.#again = this.#parts.clock.monotonic() + againMs;
    try {
      await this.join();
      return true;
    } catch (error) {
      if (!(error instanceof JoinRefused)) throw error;
      const next = 'it counts nothing while the other runs, and keeps what it has counted';
      if (!this.#isCopied) this.#parts.log.error('this node is not alone', { error, next });
      this.#isCopied = true;
      return false;
    }
  }
}
