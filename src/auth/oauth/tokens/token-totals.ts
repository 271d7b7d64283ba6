import type { AccountStore } from '../../../accounts/store/account-store.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { increase } from '../../../runtime/counts.ts';
import type { Log } from '../../../runtime/log.ts';
import type { InvalidToken } from './access-token.ts';

/** Counts the tokens issued, invalidated and rejected since the start. */
export class TokenTotals {
  readonly rejections: TokenRejections;
  /** Access tokens, by grant. */
  readonly issued = new Map<string, number>();
  /** Access tokens added to the invalidation list; with PostgreSQL, on any node. */
  invalidated = 0;

  constructor(parts: ConstructorParameters<typeof TokenRejections>[0]) {
    this.rejections = new TokenRejections(parts);
  }

  countIssued(grant: string): void {
    increase(this.issued, grant);
  }

  /** Starts counting additions to the invalidation list. */
  watch(accountStore: Pick<AccountStore, 'onCommit'>): void {
    accountStore.onCommit((writes) => {
      for (const { table, value } of writes)
        if (table === 'invalidated' && value !== undefined) this.invalidated += 1;
    });
  }
}

/** Minimum interval between two warnings about tokens of another store, ms. */
const repeatMs = 60_000;

/** Counts rejected access tokens by reason, since the start. */
export class TokenRejections {
  readonly counts = new Map<InvalidToken['reason'], number>([
    ['invalid', 0],
    ['unknown_key', 0],
  ]);
  readonly #log: Pick<Log, 'warn'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor({ log, clock }: { readonly log: Pick<Log, 'warn'>; readonly clock: Pick<Clock, 'monotonic'> }) {
    this.#log = log;
    this.#clock = clock;
  }

  count(reason: InvalidToken['reason']): void {
    increase(this.counts, reason);
    const now = this.#clock.monotonic();
    if (reason !== 'unknown_key' || now - this.#warnedAt < repeatMs) return;
    this.#warnedAt = now;
    const hint = 'if the data directory was replaced or restored, clients must sign in again for new tokens';
    this.#log.warn('rejected an access token of another store', { hint });
  }
}
