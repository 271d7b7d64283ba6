import { ledgerEntries } from '../storage/lmdb/ledger.ts';
import type { FeatureDeclaration } from '../storage/lmdb/records.ts';
import { fromSnapshot, type Reading, readEach, type Snapshot } from '../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../storage/lmdb/usage.ts';
import type {
  Findings,
  FirstSeen,
  RefusedMessages,
  StaleFeature,
  StaleTask,
  WatchTask,
} from '../webhooks/findings.ts';
import { type FeatureSight, merge, neverSeen, type Sight, sightsAt } from './sights.ts';

type Environment = WatchTask['environments'][number];
type Place = readonly [Environment, ReadonlyMap<string, FeatureSight>];

/** Finds the events of an application in its counts and refusals. */
export function watchReport(store: UsageTables, task: WatchTask): Reading<Findings> {
  return fromSnapshot(store.lmdb, function* (at): Reading<Findings> {
    const { firstSeenFrom, stale, environments } = task;
    const places: Place[] = [];
    if (firstSeenFrom !== null || stale !== null)
      for (const environment of environments)
        places.push([environment, yield* sightsAt(store, environment.number, at)]);
    return {
      firstSeen: firstSeenFrom === null ? [] : firstSeenSince(places, firstSeenFrom),
      stale: stale === null ? [] : staleSince(places, stale),
      refused: yield* refusedSince(store, task, at),
    };
  });
}

function firstSeenSince(places: readonly Place[], from: number): FirstSeen[] {
  return places.flatMap(([{ name, number }, sights]) =>
    [...sights].flatMap(([feature, { firstSeenAt: at }]) =>
      at === null || at < from ? [] : [{ environment: { name, number }, feature, at }],
    ),
  );
}

/** Features that became stale, without archived and permanent ones. */
function staleSince(
  places: readonly Place[],
  { from, now, staleAfterMs, declared }: StaleTask,
): StaleFeature[] {
  const declarations = new Map(declared.map((each) => [each.name, each]));
  const sights = new Map<string, Sight>();
  for (const [, seen] of places)
    for (const [name, sight] of seen) sights.set(name, merge(sights.get(name) ?? neverSeen, sight));
  return [...new Set([...declarations.keys(), ...sights.keys()])].flatMap((feature): StaleFeature[] => {
    const declaration = declarations.get(feature);
    if (declaration?.archived || declaration?.permanent) return [];
    const lastSeenAt = sights.get(feature)?.lastSeenAt ?? null;
    const since = staleAt(lastSeenAt, declaration, staleAfterMs);
    return since === null || since < from || since >= now ? [] : [{ feature, since, lastSeenAt }];
  });
}

/** When a feature becomes stale, or its snooze ends. */
function staleAt(
  lastSeenAt: number | null,
  declaration: FeatureDeclaration | undefined,
  staleAfterMs: number,
): number | null {
  const quietSince = lastSeenAt ?? declaration?.createdAt ?? null;
  if (quietSince === null) return null;
  return Math.max(quietSince + staleAfterMs, declaration?.snoozedUntil ?? 0);
}

const hourMs = 3_600_000;

function* refusedSince(
  store: UsageTables,
  { application, environments, refusedFrom }: WatchTask,
  at: Snapshot,
): Reading<RefusedMessages[]> {
  if (refusedFrom === null) return [];
  const names = new Map(environments.map((each) => [each.number, each]));
  const found = new Map<string, RefusedMessages>();
  const firstHour = Math.floor(refusedFrom / hourMs);
  const entries = ledgerEntries(store, application, firstHour, 2 ** 32 - 1, at);
  yield* readEach(entries, ({ subject, count, lastAt }) => {
    const { outcome, code, status, environment: number } = subject;
    if (outcome !== 'refused' || code === null) return;
    const known = number === null ? undefined : names.get(number);
    const environment = known === undefined ? null : { name: known.name, number: known.number };
    const key = `${environment?.number} ${code}`;
    const before = found.get(key) ?? { count: 0, lastAt: 0 };
    const sum = { count: before.count + count, lastAt: Math.max(before.lastAt, lastAt) };
    found.set(key, { environment, code, status, ...sum });
  });
  return [...found.values()].filter(({ lastAt }) => lastAt >= refusedFrom);
}
