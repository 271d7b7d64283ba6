import { system } from '../accounts/account-transaction.ts';
import { auditKey } from '../accounts/audit-log.ts';
import { newSigningKey } from '../accounts/signing-keys.ts';
import type { Change, Transaction } from '../accounts/store/account-store.ts';
import type { AuditAction } from '../contract/audit.ts';
import { isOwn, repairKey } from '../replication/accounts/copy.ts';
import type { Clock } from '../runtime/clock.ts';
import type { TableName } from '../storage/lmdb/accounts.ts';
import type { SigningAlgorithm } from '../storage/lmdb/auth-records.ts';

/** Count of the record numbers that the repair skips, because lost changes might have used them. */
const numbersAhead = 10_000;

/** Tables whose removed records can be back after a loss. The repair therefore removes all records of these tables. */
const ended = [
  'sessions',
  'userSessions',
  'codes',
  'deviceCodes',
  'signIns',
  'signingKeys',
] as const satisfies readonly TableName[];

/**
 * Prepares the repair after PostgreSQL has lost acknowledged changes, such as the revocation of a token or a new
 * password. The repair ends all sessions, codes and access tokens, and skips record numbers that might be in use.
 */
export async function prepareRepair(clock: Pick<Clock, 'now'>, alg: SigningAlgorithm): Promise<Change<void>> {
  const signingKey = await newSigningKey(clock.now(), alg);
  return (tx) => {
    const lastRepair = tx.get('numbers', repairKey) ?? 0;
    for (const table of ended) for (const key of [...tx.keys(table, { start: '', end: '~' })]) tx.remove(table, key);
    tx.put('signingKeys', signingKey.kid, signingKey);
    for (const [name, next] of [...tx.records('numbers')])
      if (!isOwn('numbers', name)) tx.put('numbers', name, next + numbersAhead);
    tx.put('numbers', repairKey, Math.max(clock.now(), lastRepair + 1));
    note(tx, clock.now());
  };
}

function note(tx: Transaction, at: number): void {
  const number = tx.get('numbers', 'audit') ?? 1;
  tx.put('numbers', 'audit', number + 1);
  const target = { type: 'engine', id: '', name: '' };
  tx.put('audit', auditKey(number), {
    number,
    at,
    actor: system,
    action: 'engine.changes-lost' satisfies AuditAction,
    teamId: null,
    target,
  });
}
