import type { AccountStore } from '../storage/lmdb/accounts.ts';
import type { AuditEntry } from '../storage/lmdb/records.ts';

/** The key of an entry of the audit log: in the order of the numbers. */
export function auditKey(number: number): string {
  return String(number).padStart(16, '0');
}

/** An entry as it is shown to those who may read it. */
export function showEntry({ number, at, actor, action, teamId, target }: AuditEntry) {
  return { id: String(number), at: new Date(at).toISOString(), actor, action, teamId, target };
}

/**
 * Some entries of the audit log, the latest first.
 * @param before the number of the entry that comes just after the first one; without it there is none later
 * @param limit how many there are at the most
 */
export function auditEntries(
  { audit }: Pick<AccountStore, 'audit'>,
  before: number | undefined,
  limit: number,
): readonly AuditEntry[] {
  audit.resetReadTxn(); // What was answered before this request is in the log.
  const start = before === undefined ? {} : { start: auditKey(before - 1) };
  return Array.from(audit.getRange({ ...start, reverse: true, limit }), ({ value }) => value);
}
