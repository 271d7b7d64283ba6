import { type IntendedSplit, intendedAt } from '../../accounts/feature-settings.ts';
import type { FeatureSplit } from '../../contract/shapes/split.ts';
import { timeText } from '../../runtime/rfc3339.ts';
import { sketchError } from '../../storage/aggregate/hyperloglog.ts';
import { readCounts } from '../../storage/aggregate/read-counts.ts';
import { countUniqueUsers, type UserUnions } from '../../storage/aggregate/unique-users.ts';
import type { FeatureDeclaration } from '../../storage/lmdb/records.ts';
import { featureItself } from '../../storage/lmdb/series.ts';
import { fromSnapshot, type Reading } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import { checkChecks, checkUsers, type MeasuredSplit, type Side } from '../statistics/split.ts';
import { pickSeries } from '../usage/sights.ts';
import { splitText } from './split-text.ts';

export interface SplitsTask {
  /** Number of the environment. */
  readonly environment: number;
  readonly declared: readonly FeatureDeclaration[];
  /** Unix ms. */
  readonly now: number;
}

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;

/** Number of days over which the actual split is measured. A change of the intended split shortens this period. */
const windowDays = 7;

/** Maximum number of features whose users are counted. For other features, only checks are counted. */
const mostCounted = 200;

/** Maximum age of cached splits, ms. */
const freshMs = 20_000;
const maxRemembered = 32;

export type Splits = ReadonlyMap<string, FeatureSplit>;

/** The splits of environments, at most 20 seconds old. */
export class SplitCache {
  readonly #store: UsageTables;
  readonly #unions: UserUnions;
  readonly #kept = new Map<string, { readonly readAt: number; readonly splits: Splits }>();

  constructor(store: UsageTables, unions: UserUnions) {
    this.#store = store;
    this.#unions = unions;
  }

  /** Measures the split of each declared feature that has an intended split. The result is by name. */
  *of(task: SplitsTask): Reading<Splits> {
    const wanted = wantedAt(task);
    if (wanted.length === 0) return new Map();
    const key = `${task.environment} ${JSON.stringify(wanted)}`;
    const known = this.#kept.get(key);
    if (known !== undefined && Math.abs(task.now - known.readAt) < freshMs) return known.splits;
    const splits = yield* readSplits(this.#store, this.#unions, task, wanted);
    if (this.#kept.size >= maxRemembered) this.#kept.clear();
    this.#kept.set(key, { readAt: task.now, splits });
    return splits;
  }
}

interface WantedSplit extends IntendedSplit {
  readonly feature: string;
}

function wantedAt({ declared, now }: SplitsTask): readonly WantedSplit[] {
  return declared.flatMap((declaration) => {
    const intended = intendedAt(declaration, now);
    return intended === null ? [] : [{ feature: declaration.name, ...intended }];
  });
}

/** The variants of a feature, with the counts since the intended split was set. */
interface SplitMeasurement extends WantedSplit {
  readonly ordinals: Map<string, number>;
  readonly checks: Map<number, number>;
  /** Start of the measured time, minutes. */
  readonly fromMinute: number;
  /** First whole day of the measured time, in days since the epoch; tomorrow if no day is whole. */
  readonly fromDay: number;
}

function* readSplits(
  store: UsageTables,
  unions: UserUnions,
  task: SplitsTask,
  wanted: readonly WantedSplit[],
): Reading<Splits> {
  const { environment, now } = task;
  const today = Math.floor(now / dayMs);
  const earliest = (today + 1 - windowDays) * dayMs;
  const measured = new Map(
    wanted.map((each): [string, SplitMeasurement] => {
      const from = Math.max(earliest, each.since ?? 0);
      return [
        each.feature,
        {
          ...each,
          ordinals: new Map(),
          checks: new Map(),
          fromMinute: (Math.ceil(from / hourMs) * hourMs) / minuteMs,
          fromDay: Math.min(today + 1, Math.ceil(from / dayMs)),
        },
      ];
    }),
  );
  const owners = yield* pickSeries(store, environment, (name, ordinal) => {
    if (name.length !== 2 || name[1] === featureItself) return undefined;
    const owner = measured.get(name[0]);
    owner?.ordinals.set(name[1], ordinal);
    return owner;
  });
  yield* addChecks(store, task, owners);
  const users = yield* readUsers(unions, environment, [...measured.values()], today + 1);
  return new Map(Array.from(measured, ([feature, each]) => [feature, describeSplit(each, users, now)]));
}

function* addChecks(
  store: UsageTables,
  { environment, now }: SplitsTask,
  owners: ReadonlyMap<number, SplitMeasurement>,
): Reading<void> {
  if (owners.size === 0) return;
  const from = Math.min(...Array.from(owners.values(), ({ fromMinute }) => fromMinute));
  const to = Math.floor(now / minuteMs) + 1;
  const wanted = { from, to, grain: 'hour', only: [...owners.keys()] } as const;
  yield* fromSnapshot(store.lmdb, (at) =>
    readCounts(store, environment, wanted, at, ({ minute, size, ordinals, checks }) => {
      for (let index = 0; index < size; index += 1) {
        const owner = owners.get(ordinals[index]!);
        if (owner === undefined || minute < owner.fromMinute) continue;
        owner.checks.set(ordinals[index]!, (owner.checks.get(ordinals[index]!) ?? 0) + checks[index]!);
      }
    }),
  );
}

/** Reads the users of each variant, by ordinal, on the measured whole days of its feature. */
function* readUsers(
  unions: UserUnions,
  environment: number,
  measured: readonly SplitMeasurement[],
  end: number,
): Reading<ReadonlyMap<number, number>> {
  const users = new Map<number, number>();
  const counted = measured.filter(({ fromDay }) => fromDay < end).slice(0, mostCounted);
  for (const from of new Set(counted.map(({ fromDay }) => fromDay))) {
    const groups = counted.filter(({ fromDay }) => fromDay === from).map(({ ordinals }) => [...ordinals.values()]);
    const found = yield* countUniqueUsers(unions, environment, { from, to: end }, groups);
    for (const [ordinal, count] of found.series) users.set(ordinal, count);
  }
  return users;
}

function describeSplit(
  { split, since, planned, ordinals, checks }: SplitMeasurement,
  users: ReadonlyMap<number, number>,
  now: number,
): FeatureSplit {
  const weights = new Map(split);
  const names = [...new Set([...weights.keys(), ...ordinals.keys()])];
  const createSides = (counts: ReadonlyMap<number, number>): Side[] =>
    names.flatMap((variant) => {
      const side = { variant, weight: weights.get(variant) ?? 0, users: counts.get(ordinals.get(variant) ?? -1) ?? 0 };
      return side.weight > 0 || side.users > 0 ? [side] : [];
    });
  const byUsers = checkUsers(createSides(users), sketchError);
  const isByUsers = byUsers.state !== 'unknown';
  const { intended, actual, state }: MeasuredSplit = isByUsers ? byUsers : checkChecks(createSides(checks));
  const shown = { intended, actual, state, planned, of: isByUsers ? ('users' as const) : ('checks' as const) };
  return { ...shown, since: timeText(since), text: splitText(shown, since, now) };
}
