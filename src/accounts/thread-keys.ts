import type { RefusalCode } from '../contract/refusals.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Outbox } from '../runtime/outbox.ts';
import { type ThreadKeyEvents, UnwrittenRefusals } from './key-events.ts';
import { type KeyHolder, KeyIndex } from './key-index.ts';
import { type AccountStore, asWrites, type Write } from './store/account-store.ts';

/** Tables of `KeyIndex`. They contain only hashes of secret keys, and the texts of public keys. */
const tables = ['applications', 'applicationKeys'] as const;

/** Interval between messages about the uses of a key, ms. */
const useEveryMs = 1000;

/**
 * Application keys in a thread without accounts. The thread with the accounts sends writes, and receives key events.
 */
export class ThreadKeys {
  readonly #clock: Clock;
  readonly #outbox: Pick<Outbox, 'send' | 'sendLater'>;
  readonly #index: KeyIndex;
  #uses = new Map<string, number>();
  /** Monotonic time of the last sent use, by the key's hash. */
  readonly #sentAt = new Map<string, number>();
  #leaks: string[] = [];
  /** Hashes of all reported leaked keys. */
  readonly #leaked = new Set<string>();
  readonly #refusals = new UnwrittenRefusals();

  /** @param outbox sends the result of `take` */
  constructor(clock: Clock, outbox: Pick<Outbox, 'send' | 'sendLater'>) {
    this.#clock = clock;
    this.#index = new KeyIndex(() => clock.now());
    this.#outbox = outbox;
  }

  /** @param writes result of `keyWrites` */
  update(writes: readonly Write[]): void {
    this.#index.update(writes);
    for (const { key, value } of writes) {
      if (value !== undefined) continue;
      this.#sentAt.delete(key);
      this.#leaked.delete(key);
    }
  }

  findKey(text: string): KeyHolder | undefined {
    return this.#index.find(text);
  }

  /** Records a use, and sends it immediately unless a use of the key was sent in the last second. */
  recordUse({ key: { hash } }: KeyHolder): void {
    this.#uses.set(hash, this.#clock.now());
    const now = this.#clock.monotonic();
    if (now - (this.#sentAt.get(hash) ?? Number.NEGATIVE_INFINITY) < useEveryMs) {
      this.#outbox.sendLater();
      return;
    }
    this.#sentAt.set(hash, now);
    this.#outbox.send();
  }

  recordLeak({ key: { hash, leakedAt } }: KeyHolder): void {
    if (leakedAt !== null || this.#leaked.has(hash)) return;
    this.#leaked.add(hash);
    this.#leaks.push(hash);
    this.#outbox.send();
  }

  recordRefusal({ key: { hash } }: KeyHolder, code: RefusalCode): void {
    this.#refusals.add(hash, code, this.#clock.now());
    this.#outbox.send();
  }

  take(): ThreadKeyEvents {
    const refusals = this.#refusals.take();
    this.#refusals.written(refusals);
    const events = { uses: this.#uses, leaks: this.#leaks, refusals };
    this.#uses = new Map();
    this.#leaks = [];
    return events;
  }
}

export function keyWrites(writes: readonly Write[]): readonly Write[] {
  return writes.filter(({ table }) => tables.some((each) => each === table));
}

/** All records of `tables` as writes, for a new thread. */
export function allKeyWrites(store: Pick<AccountStore, 'records'>): readonly Write[] {
  return tables.flatMap((table) => asWrites(store, table));
}
