import { nearest } from '../../contract/nearest.ts';
import type { Verdict } from '../../contract/shapes/verdict.ts';
import type { FeatureDeclaration } from '../../storage/lmdb/records.ts';
import { fromSnapshot, type Reading, type Snapshot } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import type { Findings, FirstSeen, FoundVerdict, StaleFeature, WatchTask } from '../../webhooks/findings.ts';
import { merge, neverSeen, type Sight } from '../usage/sights.ts';
import { refusedSince } from './refused-messages.ts';
import { type Figures, reasonsOf, undeclared } from './verdict-reasons.ts';
import { factsWithAskers, judgeIn, type Place, placesAt } from './verdicts.ts';

/** Finds the events of an application in its counts and refusals. */
export function watchReport(store: UsageTables, task: WatchTask): Reading<Findings> {
  return fromSnapshot(store.lmdb, function* (at): Reading<Findings> {
    const { firstSeenFrom, staleFrom, verdictsFrom, refusedFrom, environments, now } = task;
    const isReading = firstSeenFrom !== null || staleFrom !== null || verdictsFrom !== null;
    const places = isReading ? yield* placesAt(store, environments, now, at) : [];
    return {
      firstSeen: firstSeenFrom === null ? [] : firstSeenSince(places, firstSeenFrom),
      stale: staleFrom === null ? [] : staleSince(places, task, staleFrom),
      verdicts: verdictsFrom === null ? [] : yield* verdictsIn(store, places, task, at),
      refused: refusedFrom === null ? [] : yield* refusedSince(store, task, refusedFrom, at),
    };
  });
}

/** Features between two pauses. */
const stride = 64;

/** The events of verdicts have no figures. */
const noFigures: Figures = { days: 0, checks: new Map() };

/** The verdicts on all features, or on the explained ones. */
function* verdictsIn(
  store: UsageTables,
  places: readonly Place[],
  task: WatchTask,
  at: Snapshot,
): Reading<readonly FoundVerdict[]> {
  const { declared, explained, now, staleAfterMs: quietMs } = task;
  const declarations = new Map(declared.map((each) => [each.name, each]));
  const names = new Set([...declarations.keys(), ...places.flatMap(({ sights }) => [...sights.keys()])]);
  const found: FoundVerdict[] = [];
  for (const feature of explained ?? names) {
    if (!names.has(feature)) continue;
    const declaration = declarations.get(feature);
    const judgement = judgeIn(store, task, places, feature, declaration, at);
    const { kind, since, environments } = judgement;
    const reasons: Verdict['reasons'] = [];
    if (explained !== undefined) {
      const facts = factsWithAskers(store, places, feature, now, at);
      reasons.push(...reasonsOf({ declaration, environments: facts, now, quietMs }, judgement, noFigures));
      if (declaration === undefined) reasons.push(undeclared(nearest(feature, [...declarations.keys()])));
    }
    const lastSeenAt = sightIn(places, feature).lastSeenAt;
    const declarationOf = declaration?.updatedAt ?? null;
    found.push({ feature, kind, since, environments, lastSeenAt, declarationOf, reasons });
    if (found.length % stride === 0) yield;
  }
  return found;
}

function sightIn(places: readonly Place[], feature: string): Sight {
  return places.reduce<Sight>(
    (sight, { sights }) => merge(sight, sights.get(feature) ?? neverSeen),
    neverSeen,
  );
}

function firstSeenSince(places: readonly Place[], from: number): FirstSeen[] {
  return places.flatMap(({ name, number, sights }) =>
    [...sights].flatMap(([feature, { firstSeenAt: at }]) =>
      at === null || at < from ? [] : [{ environment: { name, number }, feature, at }],
    ),
  );
}

/** Features that became stale, without archived and permanent ones. */
function staleSince(
  places: readonly Place[],
  { now, staleAfterMs, declared }: WatchTask,
  from: number,
): StaleFeature[] {
  const declarations = new Map(declared.map((each) => [each.name, each]));
  const seen = places.flatMap(({ sights }) => [...sights.keys()]);
  return [...new Set([...declarations.keys(), ...seen])].flatMap((feature): StaleFeature[] => {
    const declaration = declarations.get(feature);
    if (declaration?.archived || declaration?.permanent) return [];
    const { lastSeenAt } = sightIn(places, feature);
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
