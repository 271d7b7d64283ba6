import { applicationOf, auditEntries } from '../../accounts/audit-log.ts';
import type { AccountTables } from '../../storage/lmdb/accounts.ts';
import type { AuditEntry } from '../../storage/lmdb/records.ts';
import { isChange } from './change-facts.ts';

/** Maximum number of entries of the audit log that are read, and of changes that are kept, for all applications. */
const most = { read: 200_000, kept: 20_000 };

/** Number of entries read between two pauses, which takes about a millisecond. */
const stride = 200;

/**
 * The latest changes of applications in the audit log, the latest first. Most entries are about sign-ins, so each is read once
 * only.
 */
export class RecentChanges {
  readonly #accounts: Pick<AccountTables, 'audit'>;
  /** By application, the latest first. */
  #known: ReadonlyMap<string, readonly AuditEntry[]> = new Map();
  #latest = -1;
  #reading: Promise<void> = Promise.resolve();

  constructor(accounts: Pick<AccountTables, 'audit'>) {
    this.#accounts = accounts;
  }

  /** Includes every change acknowledged before the call. */
  async of(applicationId: string): Promise<readonly AuditEntry[]> {
    this.#reading = this.#reading.catch(() => {}).then(() => this.#read());
    await this.#reading;
    return this.#known.get(applicationId) ?? [];
  }

  async #read(): Promise<void> {
    const found: AuditEntry[] = [];
    let newest = this.#latest;
    let before: number | undefined;
    for (let read = 0; read < most.read && found.length < most.kept; read += stride) {
      const entries = auditEntries(this.#accounts, before, stride);
      newest = Math.max(newest, entries[0]?.number ?? -1);
      for (const entry of entries) if (entry.number > this.#latest && isChange(entry)) found.push(entry);
      before = entries.at(-1)?.number;
      if (entries.length < stride || before! <= this.#latest) break;
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#latest = newest;
    if (found.length > 0) this.#add(found);
  }

  #add(found: readonly AuditEntry[]): void {
    const all = [...found, ...[...this.#known.values()].flat()];
    if (all.length > most.kept) all.sort((one, other) => other.number - one.number).length = most.kept;
    const known = new Map<string, AuditEntry[]>();
    for (const entry of all) {
      const id = applicationOf(entry)!;
      const changes = known.get(id);
      if (changes === undefined) known.set(id, [entry]);
      else changes.push(entry);
    }
    this.#known = known;
  }
}
