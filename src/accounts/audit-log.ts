import type { AuditEntry as ShownEntry } from '../contract/shapes/audit-entry.ts';
import type { AccountTables } from '../storage/lmdb/accounts.ts';
import type { AuditEntry } from '../storage/lmdb/records.ts';

/** The key of an audit log entry. Keys sort by number. */
export function auditKey(number: number): string {
  return String(number).padStart(16, '0');
}

export function showEntry(entry: AuditEntry): ShownEntry {
  const { number, at, actor, action, teamId, target, factors, provider, reason, changes } = entry;
  const applicationId = applicationOf(entry);
  return {
    id: String(number),
    at: new Date(at).toISOString(),
    actor,
    action,
    teamId,
    target,
    ...(factors !== undefined && { factors: [...factors] }),
    ...(provider !== undefined && { provider }),
    ...(reason !== undefined && { reason }),
    ...(applicationId !== undefined && { applicationId }),
    ...(changes !== undefined && { changes: [...changes] }),
  };
}

const byApplication = ['application', 'environment', 'feature', 'metric', 'experiment', 'code-scan'];

/** The application that an entry is about; `undefined` if it is about none, or about a key in an earlier release. */
export function applicationOf({ applicationId, target }: AuditEntry): string | undefined {
  return applicationId ?? (byApplication.includes(target.type) ? target.id : undefined);
}

/** Returns entries, latest first. @param before exclusive upper bound of their numbers */
export function auditEntries(
  { audit }: Pick<AccountTables, 'audit'>,
  before: number | undefined,
  limit: number,
): readonly AuditEntry[] {
  audit.resetReadTxn(); // Include everything acknowledged before this request.
  const start = before === undefined ? {} : { start: auditKey(before - 1) };
  return Array.from(audit.getRange({ ...start, reverse: true, limit }), ({ value }) => value);
}
