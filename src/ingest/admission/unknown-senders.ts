import { networkOf } from '../../runtime/network.ts';
import { KeyedLimits } from './keyed-limits.ts';
import { TokenBucket } from './token-bucket.ts';

/** Tokens of one network: 64 KiB a second, and 1 MiB at once. A larger body passes when nothing is owed. */
const each = { rate: 16, burst: 256 };

/** Tokens of all networks: 1 MiB a second, and 16 MiB at once. */
const together = { rate: 256, burst: 4096 };

/**
 * Limits what large bodies without a known key cost. A few kB of gzip are megabytes to decode, so without a bound anyone
 * could keep the service busy. Each network has a limit of its own, so that one attacker leaves room for others whose key
 * is not at the beginning of their reports.
 */
export class UnknownSenders {
  readonly #each = new KeyedLimits(each.rate, each.burst);
  readonly #together: TokenBucket;

  constructor(now: number) {
    this.#together = new TokenBucket(together.rate, together.burst, now);
  }

  /** Takes tokens of the network of an address. @returns 0, or the seconds until there are enough */
  take(address: string, now: number, tokens: number): number {
    const wait = this.wait(address, now, tokens);
    if (wait === 0) this.owe(address, now, tokens);
    return wait;
  }

  /** Takes tokens, whether there are enough or not: what is missing is paid off before anything else passes. */
  owe(address: string, now: number, tokens: number): void {
    this.#each.owe(networkOf(address), now, tokens);
    this.#together.owe(now, tokens);
  }

  /** Seconds until there are enough tokens for the network of an address, 0 when there are. Nothing is taken. */
  wait(address: string, now: number, tokens: number): number {
    return Math.max(this.#each.wait(networkOf(address), now, tokens), this.#together.wait(now, tokens));
  }
}
