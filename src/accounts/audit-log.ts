import type { AccountStore } from '../store/accounts.ts';
import type { AuditEntry } from '../store/records.ts';
import { auditKey } from './tables.ts';

/**
 * The entries of the audit log, the latest first.
 * @param before the number of the entry that comes just after the first one; without it there is none later
 */
export function* auditEntries(
  { audit }: Pick<AccountStore, 'audit'>,
  before?: number,
): Generator<AuditEntry> {
  audit.resetReadTxn(); // What was answered before this request is in the log.
  const start = before === undefined ? {} : { start: auditKey(before - 1) };
  for (const { value } of audit.getRange({ ...start, reverse: true })) yield value;
}
