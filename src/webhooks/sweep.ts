import type { AccountStore } from '../accounts/store/account-store.ts';
import {
  runSweepSteps,
  type Sweep,
  type SweepStep,
  type SweepTurns,
  sweepInRounds,
  sweepSteps,
} from '../accounts/store/sweep.ts';
import type { AccountTables, TableName } from '../storage/lmdb/accounts.ts';
import { applicationIn, digestIn, issueIn, issueMs, service } from './marks.ts';
import { maxDeliveries, sequenceOf, webhookIn } from './queue.ts';

interface SweepDeps extends SweepTurns {
  readonly accounts: AccountTables;
  readonly accountStore: AccountStore;
  readonly clock: { now(): number };
}

const betweenRoundsMs = 10 * 60_000;

/** How long finished deliveries are kept, unless there are too many. */
export const keptDays = 30;
const keptMs = keptDays * 86_400_000;
/** How long marks of refusals are kept. */
const refusedMarkMs = 2 * 86_400_000;

/** Removes old deliveries and marks, and the remains of deleted webhooks and applications, while the service runs. */
export function sweepWebhooks(deps: SweepDeps): Promise<void> {
  return sweepInRounds(deps, betweenRoundsMs, () => sweepRound(deps));
}

/** One round over all tables; ends early if the service is stopping. @throws {ApiError} as a change of the accounts does */
export function sweepRound(deps: SweepDeps): Promise<void> {
  return runSweepSteps(deps, stepsAt(deps, deps.clock.now()));
}

function stepsAt({ accounts, accountStore }: SweepDeps, now: number): readonly SweepStep[] {
  const steps = <Name extends TableName>(sweep: Sweep<Name>) => sweepSteps(accounts, accountStore, sweep);
  return [
    // A version without webhooks deletes a team but not its webhooks.
    steps({ table: 'webhooks', isOver: (_, { teamId }, reader) => !reader.has('teams', teamId) }),
    steps({
      table: 'webhookDeliveries',
      isOver: (_, { webhookId, number, endedAt }, reader) => {
        const next = reader.get('numbers', sequenceOf(webhookId)) ?? 1;
        const isOld = endedAt !== null && now - endedAt > keptMs;
        return isOld || number < next - maxDeliveries || !reader.has('webhooks', webhookId);
      },
      remove(draft, key) {
        draft.remove('webhookDeliveries', key);
        draft.remove('webhookTurns', key);
      },
    }),
    steps({ table: 'webhookTurns', isOver: (key, _, reader) => !reader.has('webhooks', webhookIn(key)) }),
    steps({
      table: 'numbers',
      isOver: (name, _, reader) =>
        name.startsWith(sequenceOf('')) && !reader.has('webhooks', name.slice(sequenceOf('').length)),
    }),
    steps({
      table: 'webhookMarks',
      isOver(mark, { at }, reader) {
        const application = applicationIn(mark);
        const webhook = issueIn(mark);
        if (webhook !== undefined) return now - at > issueMs || !reader.has('webhooks', webhook);
        const team = digestIn(mark);
        if (team !== undefined) return !reader.has('teams', team);
        const isRefusal = mark.startsWith(`${application} refused `);
        if (isRefusal && now - at > refusedMarkMs) return true;
        return application !== service && !reader.has('applications', application);
      },
    }),
  ];
}
