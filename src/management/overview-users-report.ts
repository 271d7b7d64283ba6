import type { OverviewUsersShown } from '../contract/shapes/overview.ts';
import { countUniqueUsers, type Days, type UserUnions } from '../storage/aggregate/unique-users.ts';
import type { Environment } from '../storage/lmdb/records.ts';
import type { Reading } from '../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../storage/lmdb/usage.ts';
import { daysText } from './overview-range.ts';
import { pickSeries } from './sights.ts';

export interface OverviewUsersTask {
  readonly environment: Environment;
  readonly days: Days;
  readonly features: readonly string[];
}

/** Counts the users of some features of an environment. */
export function* overviewUsersReport(
  store: UsageTables,
  unions: UserUnions,
  { environment, days, features }: OverviewUsersTask,
): Reading<OverviewUsersShown> {
  const ordinals = new Map(features.map((feature) => [feature, [] as number[]]));
  yield* pickSeries(store, environment.number, (name, ordinal) => {
    if (name.length === 2) ordinals.get(name[0])?.push(ordinal);
  });
  const groups = features.map((feature) => ordinals.get(feature)!);
  const users = yield* countUniqueUsers(unions, environment.number, days, groups);
  return {
    ...daysText(days),
    features: features.map((feature, index) => ({ feature, users: users.groups[index] ?? 0 })),
  };
}
