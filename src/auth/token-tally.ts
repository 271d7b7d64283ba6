import type { AccountStore } from '../accounts/store/account-store.ts';
import { TokenRejections } from './token-rejections.ts';

/** Counts the tokens issued, invalidated and rejected since the start. */
export class TokenTally {
  readonly rejections: TokenRejections;
  /** Access tokens, by grant. */
  readonly issued = new Map<string, number>();
  /** Access tokens added to the invalidation list; with PostgreSQL, on any node. */
  invalidated = 0;

  constructor(parts: ConstructorParameters<typeof TokenRejections>[0]) {
    this.rejections = new TokenRejections(parts);
  }

  countIssued(grant: string): void {
    this.issued.set(grant, (this.issued.get(grant) ?? 0) + 1);
  }

  /** Starts counting additions to the invalidation list. */
  watch(accountStore: Pick<AccountStore, 'onCommit'>): void {
    accountStore.onCommit((writes) => {
      for (const { table, value } of writes)
        if (table === 'invalidated' && value !== undefined) this.invalidated += 1;
    });
  }
}
