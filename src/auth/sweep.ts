import type { Directory } from '../accounts/directory.ts';
import type { Clock } from '../clock.ts';
import type { AccountStore } from '../store/accounts.ts';
import { type Sweep, type SweepStep, sweepSteps } from '../store/sweep.ts';
import type { Health } from '../store/transact.ts';
import { isBrakeOver } from './brakes.ts';
import { invalidationKeyAt } from './invalidation.ts';
import { endsAt, removeSession } from './sessions.ts';

export interface SweepDeps {
  readonly accounts: AccountStore;
  readonly health: Health;
  readonly directory: Pick<Directory, 'users' | 'clients'>;
  readonly clock: Clock;
  /** How long the audit log is kept, ms. */
  readonly auditMs: number;
  /** Resolves after `ms`; false when the service is stopping, and the sweep with it. */
  pause(ms: number): Promise<boolean>;
  /** A step failed; the sweep goes on with the next round. */
  failed(error: unknown): void;
}

const betweenRoundsMs = 60_000;
/** Between two steps, so that requests wait for no more than one. */
const betweenStepsMs = 5;
/** A token stays on the list for a little longer than it could be valid: the clock may be set back. */
const leewayMs = 60_000;

/**
 * Removes what has expired of what the auth host keeps, and of the audit log, in the background, for as long as the service runs: round after
 * round, in small steps.
 */
export async function sweepExpired(parts: SweepDeps): Promise<void> {
  do {
    try {
      await sweepRound(parts);
    } catch (error) {
      parts.failed(error);
    }
  } while (await parts.pause(betweenRoundsMs));
}

/**
 * One round over everything; ends early when the service is stopping.
 * @throws {ApiError} `store_unavailable`
 */
export async function sweepRound(parts: SweepDeps): Promise<void> {
  for (const step of stepsAt(parts, parts.clock.now())) {
    for (let after = step(undefined); after !== undefined; after = step(after))
      if (!(await parts.pause(betweenStepsMs))) return;
  }
}

function stepsAt({ accounts, health, directory, auditMs }: SweepDeps, now: number): readonly SweepStep[] {
  const steps = <T>(sweep: Sweep<T>) => sweepSteps(accounts.lmdb, health, sweep);
  const { invalidated, sessions, codes, signIns, brakes, audit } = accounts;
  return [
    steps({
      table: invalidated,
      end: invalidationKeyAt((now - leewayMs) / 1000),
      isOver: () => true,
      remove: (key) => invalidated.removeSync(key),
    }),
    steps({
      table: sessions,
      // Who may not have it now may have it again: then a new password must still find it, and end it.
      isOver: (_, session) => now >= endsAt(session) || !directory.users.has(session.userId),
      remove: (key, session) => removeSession(accounts, key, session),
    }),
    steps({
      table: codes,
      isOver: (_, { expiresAt }) => now >= expiresAt,
      remove: (key) => codes.removeSync(key),
    }),
    steps({
      table: signIns,
      isOver: (_, { expiresAt, userId }) => now >= expiresAt || !directory.users.has(userId),
      remove: (key) => signIns.removeSync(key),
    }),
    steps({
      table: brakes,
      isOver: (key, brake) => isBrakeOver(key, brake, now),
      remove: (key) => brakes.removeSync(key),
    }),
    steps({
      table: audit,
      inOrder: true,
      isOver: (_, { at }) => now - at > auditMs,
      remove: (key) => audit.removeSync(key),
    }),
  ];
}
