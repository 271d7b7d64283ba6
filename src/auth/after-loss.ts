import { system } from '../accounts/account-draft.ts';
import { auditKey } from '../accounts/audit-log.ts';
import { newSigningKey } from '../accounts/signing-keys.ts';
import type { Draft, Plan } from '../accounts/store/account-store.ts';
import type { AuditAction } from '../contract/audit.ts';
import { isOwn, repairMark } from '../replication/accounts/copy.ts';
import type { Clock } from '../runtime/clock.ts';
import type { TableName } from '../storage/lmdb/accounts.ts';
import type { SigningAlgorithm } from '../storage/lmdb/auth-records.ts';

/** How many numbers to skip, because the lost changes may have used them. */
const numbersAhead = 10_000;

/** Tables whose records a lost change may have removed. All their records are removed. */
const ended = [
  'sessions',
  'userSessions',
  'codes',
  'deviceCodes',
  'signIns',
  'signingKeys',
] as const satisfies readonly TableName[];

/**
 * Makes the plan that follows when PostgreSQL has lost acknowledged changes. These may include invalidations and changes of
 * passwords and rights. The plan ends all sessions, codes and access tokens, and never reuses a number.
 */
export async function planAfterLoss(clock: Pick<Clock, 'now'>, alg: SigningAlgorithm): Promise<Plan<void>> {
  const signingKey = await newSigningKey(clock.now(), alg);
  return (draft) => {
    const mark = draft.get('numbers', repairMark) ?? 0;
    for (const table of ended)
      for (const key of [...draft.keys(table, { start: '', end: '~' })]) draft.remove(table, key);
    draft.put('signingKeys', signingKey.kid, signingKey);
    for (const [name, next] of [...draft.records('numbers')])
      if (!isOwn('numbers', name)) draft.put('numbers', name, next + numbersAhead);
    draft.put('numbers', repairMark, Math.max(clock.now(), mark + 1));
    note(draft, clock.now());
  };
}

function note(draft: Draft, at: number): void {
  const number = draft.get('numbers', 'audit') ?? 1;
  draft.put('numbers', 'audit', number + 1);
  const target = { type: 'engine', id: '', name: '' };
  draft.put('audit', auditKey(number), {
    number,
    at,
    actor: system,
    action: 'engine.changes-lost' satisfies AuditAction,
    teamId: null,
    target,
  });
}
