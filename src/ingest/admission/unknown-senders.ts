import { networkOf } from '../../runtime/ip-address.ts';
import { KeyedLimits } from './keyed-limits.ts';
import { TokenBucket } from './token-bucket.ts';

/** Limit of one network: 64 KiB a second, with a burst of 1 MiB. A larger body passes if nothing is owed. */
const each = { rate: 16, burst: 256 };

/** Limit of all networks together: 1 MiB a second, with a burst of 16 MiB. */
const together = { rate: 256, burst: 4096 };

/**
 * Limits the cost of large bodies without a known key. A few kB of gzip can take megabytes to decode, so without a limit anyone
 * could keep the service busy. Each network has its own limit. One attacker then leaves room for others whose key is not at the
 * beginning of their reports.
 */
export class UnknownSenders {
  readonly #each = new KeyedLimits(each.rate, each.burst);
  readonly #together: TokenBucket;

  constructor(now: number) {
    this.#together = new TokenBucket(together.rate, together.burst, now);
  }

  /** Takes tokens of an address's network. @returns 0, or the seconds until there are enough */
  take(address: string, now: number, tokens: number): number {
    const wait = this.wait(address, now, tokens);
    if (wait === 0) this.owe(address, now, tokens);
    return wait;
  }

  /** Takes tokens even if there are too few. The debt is paid off before anything else passes. */
  owe(address: string, now: number, tokens: number): void {
    this.#each.owe(networkOf(address), now, tokens);
    this.#together.owe(now, tokens);
  }

  /** Seconds until the network of an address has enough tokens; 0 if it has. Takes nothing. */
  wait(address: string, now: number, tokens: number): number {
    return Math.max(this.#each.wait(networkOf(address), now, tokens), this.#together.wait(now, tokens));
  }
}
