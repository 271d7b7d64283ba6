import type { AccountStore } from '../accounts/store/account-store.ts';
import {
  runSweepSteps,
  type Sweep,
  type SweepControl,
  type SweepStep,
  sweepInRounds,
  sweepSteps,
} from '../accounts/store/sweep.ts';
import type { AccountTables, TableName } from '../storage/lmdb/accounts.ts';
import { applicationIn, digestIn, issueIn, issueMs, service } from './announcements.ts';
import { maxDeliveries, sequenceName, webhookIn } from './queue.ts';

interface SweepDeps extends SweepControl {
  readonly accounts: AccountTables;
  readonly accountStore: AccountStore;
  readonly clock: { now(): number };
}

const betweenRoundsMs = 10 * 60_000;

/** Retention of finished deliveries, days. Deliveries beyond the maximum number are removed earlier. */
export const keptDays = 30;
const keptMs = keptDays * 86_400_000;
/** Retention of announced refusals, ms. */
const keptRefusalMs = 2 * 86_400_000;

/** Removes old deliveries and announcements, and the remains of deleted webhooks and applications. */
export function sweepWebhooks(deps: SweepDeps): Promise<void> {
  return sweepInRounds(deps, betweenRoundsMs, () => sweepRound(deps));
}

/** Removes outdated records, or only some if the service is stopping. @throws {Refusal} as a change of accounts does */
export function sweepRound(deps: SweepDeps): Promise<void> {
  return runSweepSteps(deps, stepsAt(deps, deps.clock.now()));
}

function stepsAt({ accounts, accountStore }: SweepDeps, now: number): readonly SweepStep[] {
  const steps = <Name extends TableName>(sweep: Sweep<Name>) => sweepSteps(accounts, accountStore, sweep);
  return [
    // Needed because releases without webhooks delete a team, but not its webhooks.
    steps({ table: 'webhooks', isOver: (_, { teamId }, reader) => !reader.has('teams', teamId) }),
    steps({
      table: 'webhookDeliveries',
      isOver: (_, { webhookId, number, endedAt }, reader) => {
        const next = reader.get('numbers', sequenceName(webhookId)) ?? 1;
        const isOld = endedAt !== null && now - endedAt > keptMs;
        return isOld || number < next - maxDeliveries || !reader.has('webhooks', webhookId);
      },
      remove(tx, key) {
        tx.remove('webhookDeliveries', key);
        tx.remove('webhookTurns', key);
      },
    }),
    steps({ table: 'webhookTurns', isOver: (key, _, reader) => !reader.has('webhooks', webhookIn(key)) }),
    steps({
      table: 'numbers',
      isOver: (name, _, reader) =>
        name.startsWith(sequenceName('')) && !reader.has('webhooks', name.slice(sequenceName('').length)),
    }),
    steps({
      table: 'webhookMarks',
      isOver(key, { at }, reader) {
        const application = applicationIn(key);
        const webhook = issueIn(key);
        if (webhook !== undefined) return now - at > issueMs || !reader.has('webhooks', webhook);
        const team = digestIn(key);
        if (team !== undefined) return !reader.has('teams', team);
        const isRefusal = key.startsWith(`${application} refused `);
        if (isRefusal && now - at > keptRefusalMs) return true;
        return application !== service && !reader.has('applications', application);
      },
    }),
  ];
}
