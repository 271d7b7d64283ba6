import type { Accounts } from '../accounts/accounts.ts';
import { ownersOf } from '../accounts/owners.ts';
import type { WebhookEventData } from '../contract/events/event-data.ts';
import type { Application } from '../storage/lmdb/records.ts';
import type { FoundForCleanup } from './findings.ts';

type Digest = WebhookEventData['digest.weekly'];

/** Applications in a digest, and flags of each that can go. */
const maxApplications = 10;
const maxFlags = 10;

const weekMs = 7 * 86_400_000;
/** The first Monday of Unix time, at 8:00 UTC. */
const firstMonday = Date.UTC(1970, 0, 5, 8);

/** The latest Monday, 8:00 UTC. */
export function digestTime(now: number): number {
  return firstMonday + Math.floor((now - firstMonday) / weekMs) * weekMs;
}

/** The digest of the week that ends at `at`. @param applications those with the most flags to remove */
export function digestOf(
  accounts: Accounts,
  at: number,
  applications: readonly (readonly [Application, FoundForCleanup])[],
): Digest {
  const shown = applications.toSorted(([, a], [, b]) => b.total - a.total).slice(0, maxApplications);
  return {
    week: { from: new Date(at - weekMs).toISOString(), to: new Date(at).toISOString() },
    applications: shown.map(([application, found]) => showApplication(accounts, application, found)),
    applicationsLeftOut: applications.length - shown.length,
  };
}

function showApplication(
  accounts: Accounts,
  application: Application,
  { counts, total, keptTotal, removable }: FoundForCleanup,
): Digest['applications'][number] {
  const declared = accounts.featuresOf(application.id);
  return {
    application: { id: application.id, name: application.name },
    counts: { ...counts, canGo: total, cannotGoYet: keptTotal },
    canGo: removable.slice(0, maxFlags).map(({ feature, kind, since, variant }) => ({
      feature,
      verdict: kind,
      since,
      variant,
      owners: ownersOf(accounts, application, feature, declared.get(feature)).owners,
    })),
  };
}
