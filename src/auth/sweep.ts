import { revokeKey } from '../accounts/application-keys.ts';
import { removeIdentity } from '../accounts/identity-providers.ts';
import type { AccountStore } from '../accounts/store/account-store.ts';
import {
  keyAt,
  runSweepSteps,
  type Sweep,
  type SweepControl,
  type SweepStep,
  sweepInRounds,
  sweepSteps,
} from '../accounts/store/sweep.ts';
import type { Clock } from '../runtime/clock.ts';
import type { AccountTables, TableName } from '../storage/lmdb/accounts.ts';
import { sweepThrottles } from './factors/login-throttle.ts';
import { isDeviceOver } from './oauth/device-codes.ts';
import { endsAt, removeSession } from './oauth/sessions.ts';
import { clockTolerance } from './oauth/tokens.ts';

interface SweepDeps extends SweepControl {
  readonly accounts: AccountTables;
  readonly accountStore: AccountStore;
  readonly clock: Clock;
  /** Retention of the audit log, ms. */
  readonly auditMs: number;
  /** Copies the audit log to files, and returns the number of the last entry that may be removed. */
  readonly exportAudit?: (() => Promise<number>) | undefined;
}

const betweenRoundsMs = 60_000;
/** A token stays on the invalidation list longer than its lifetime, because the clock can be set back. */
const leewayMs = 60_000;

/** Removes expired records of the auth host and old audit log entries in the background, in small steps. */
export function sweepExpired(deps: SweepDeps): Promise<void> {
  return sweepInRounds(deps, betweenRoundsMs, () => sweepRound(deps));
}

/**
 * Runs one round over all tables. The round ends early if the service is stopping.
 * @throws {Refusal} `store_unavailable`
 */
export async function sweepRound(deps: SweepDeps): Promise<void> {
  const exported = (await deps.exportAudit?.()) ?? Number.POSITIVE_INFINITY;
  await runSweepSteps(deps, stepsAt(deps, deps.clock.now(), exported));
}

/** @param exported the number of the last audit log entry that may be removed */
function stepsAt({ accounts, accountStore, auditMs }: SweepDeps, now: number, exported: number): readonly SweepStep[] {
  const steps = <Name extends TableName>(sweep: Sweep<Name>) => sweepSteps(accounts, accountStore, sweep);
  return [
    steps({ table: 'invalidated', end: keyAt((now - leewayMs) / 1000), isOver: () => true }),
    steps({ table: 'assertions', end: keyAt((now - leewayMs) / 1000 - clockTolerance), isOver: () => true }),
    steps({
      table: 'sessions',
      // Access to the client is not checked: the user might regain it, and a new password must still end the session.
      isOver: (_, session, reader) => now >= endsAt(session) || !reader.has('users', session.userId),
      remove: removeSession,
    }),
    steps({ table: 'deviceCodes', isOver: (_, device) => isDeviceOver(device, now) }),
    steps({ table: 'codes', isOver: (_, { expiresAt }) => now >= expiresAt }),
    steps({
      table: 'signIns',
      isOver: (_, { expiresAt, userId }, reader) => now >= expiresAt || !reader.has('users', userId),
    }),
    // Needed because earlier releases delete a user, but not the user's passkeys.
    steps({ table: 'passkeys', isOver: (_, { userId }, reader) => !reader.has('users', userId) }),
    // Needed because earlier releases delete a user, but not the user's authenticator app.
    steps({ table: 'totp', isOver: (userId, _, reader) => !reader.has('users', userId) }),
    // Needed because earlier releases delete an application, but not its code scans.
    steps({ table: 'codeScans', isOver: (_, { applicationId }, reader) => !reader.has('applications', applicationId) }),
    steps({
      table: 'applicationKeys',
      isOver: (_, { replaced }) => replaced !== undefined && now >= replaced.until,
      remove: (tx, _, key) => revokeKey(tx, key, now),
    }),
    steps({ table: 'providerSignIns', isOver: (_, { expiresAt }) => now >= expiresAt }),
    steps({ table: 'logoutTokens', isOver: (_, expiresAt) => now >= expiresAt }),
    steps({
      table: 'linkedIdentities',
      // Needed because earlier releases delete a user, but not the user's linked identities.
      isOver: (_, { userId }, reader) => !reader.has('users', userId),
      remove: (tx, _, linked) => removeIdentity(tx, linked),
    }),
    (after = '') => sweepThrottles(accountStore.throttles, after, now),
    steps({ table: 'audit', inOrder: true, isOver: (_, { at, number }) => now - at > auditMs && number <= exported }),
  ];
}
