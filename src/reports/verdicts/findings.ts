import { canGo, refusing, silentMs } from '../../contract/health.ts';
import { surplusName } from '../../contract/names.ts';
import { nearest } from '../../contract/nearest.ts';
import { senderProgram } from '../../contract/programs.ts';
import { maxSubjects } from '../../contract/shapes/health.ts';
import type { FeatureSplit } from '../../contract/shapes/split.ts';
import type { Verdict } from '../../contract/shapes/verdict.ts';
import { ledgerEntries } from '../../storage/lmdb/ledger.ts';
import type { FeatureDeclaration } from '../../storage/lmdb/records.ts';
import { slotMs } from '../../storage/lmdb/senders.ts';
import { fromSnapshot, type Reading, readEach, type Snapshot } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import type {
  FeatureFindings,
  Findings,
  FirstSeenFeature,
  FoundVerdict,
  RefusalFinding,
  StaleFeature,
  WatchTask,
} from '../../webhooks/findings.ts';
import type { SplitCache } from '../experiments/split-report.ts';
import { merge, neverSeen, type Sight } from '../usage/sights.ts';
import type { Judgement } from './verdict.ts';
import { explainJudgement, type Figures, undeclared } from './verdict-reasons.ts';
import { factsWithAskers, judgeIn, type Place, placesAt, type Verdicts, type VerdictsTask } from './verdicts.ts';

export interface FindingsTask extends VerdictsTask {
  /** Number of the application. */
  readonly application: number;
}

interface FoundPlace extends FeatureFindings {
  readonly name: string;
  /** Time when data was last received, Unix ms, to the minute; `null` for never. */
  readonly lastReceivedAt: number | null;
}

/** Findings in the data of an application, for the rules of `src/contract/health.ts`. */
export interface DataFindings {
  readonly environments: readonly FoundPlace[];
  readonly all: FeatureFindings;
  /** Refusals that have not stopped. */
  readonly refused: readonly RefusalFinding[];
}

/** Reads the refusals of the last hours, and returns all findings. The verdicts are cached: see `Verdicts`. */
export function* findingsReport(
  store: UsageTables,
  { verdicts, splits }: { readonly verdicts: Verdicts; readonly splits: SplitCache },
  task: FindingsTask,
): Reading<DataFindings> {
  const { now } = task;
  const { judgements, places } = yield* verdicts.of(task);
  const refused = yield* fromSnapshot(store.lmdb, (at) => refusalsIn(store, task, at));
  const off = new Map<string, ReadonlySet<string>>();
  for (const { name, number } of places) {
    const found = yield* splits.of({ environment: number, declared: task.declared, now });
    // Only a split measured by users is precise enough for a warning.
    const isOff = ([, { state, of }]: readonly [string, FeatureSplit]) => state === 'off' && of === 'users';
    off.set(name, new Set([...found].filter(isOff).map(([feature]) => feature)));
  }
  const findFeatures = featureFinder(task.declared, judgements);
  return {
    environments: places.map((place) => ({
      name: place.name,
      lastReceivedAt: lastReceived(place, now),
      ...findFeatures((name) => place.sights.has(name), off.get(place.name)),
    })),
    all: findFeatures(),
    refused,
  };
}

/**
 * Returns when data was last received: the later of two times. Sender times include packets with metrics only, but are
 * precise to ten minutes. Flag times are precise to the minute.
 */
function lastReceived({ sights, reporters }: Place, now: number): number | null {
  let last = Math.max(0, ...reporters.map((sender) => sender.last * slotMs));
  for (const { lastSeenAt } of sights.values()) last = Math.max(last, lastSeenAt ?? 0);
  return last === 0 ? null : Math.min(last, now);
}

/** Returns a function that finds the flags that are declared, or for which `isSeen` is true. */
export function featureFinder(
  declared: readonly FeatureDeclaration[],
  judgements: ReadonlyMap<string, Pick<Judgement, 'kind'>>,
): (isSeen?: (name: string) => boolean, off?: ReadonlySet<string>) => FeatureFindings {
  const declarations = new Map(declared.map((each) => [each.name, each]));
  return (isSeen = () => true, off) => {
    const found = { archived_but_asked: none(), flags_can_go: none(), split_mismatch: none(), undeclared: none() };
    let flags = 0;
    for (const [name, { kind }] of judgements) {
      const declaration = declarations.get(name);
      if (name === surplusName || (declaration === undefined && !isSeen(name))) continue;
      flags += 1;
      if (kind === 'archived_but_asked') add(found.archived_but_asked, name);
      if (canGo(kind, declaration)) add(found.flags_can_go, name);
      if (off?.has(name)) add(found.split_mismatch, name, Number.POSITIVE_INFINITY);
      if (declaration === undefined && declarations.size > 0) add(found.undeclared, name);
    }
    return { flags, found };
  };
}

function none(): { count: number; names: string[] } {
  return { count: 0, names: [] };
}

function add(found: ReturnType<typeof none>, name: string, most = maxSubjects): void {
  found.count += 1;
  if (found.names.length < most) found.names.push(name);
}

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
      refused:
        refusedFrom === null ? [] : (yield* refusalsIn(store, task, at)).filter(({ lastAt }) => lastAt >= refusedFrom),
    };
  });
}

/** Number of features between two pauses. */
const stride = 64;

/** Empty figures, used for the verdicts in events. */
const noFigures: Figures = { days: 0, checks: new Map() };

/** Returns the verdicts on all features, or only on the features whose reasons are requested. */
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
    const { judgement } = judgeIn(store, task, places, feature, declaration, at);
    const { kind, since, environments } = judgement;
    const reasons: Verdict['reasons'] = [];
    if (explained !== undefined) {
      const facts = factsWithAskers(store, places, feature, now, at);
      reasons.push(...explainJudgement({ declaration, environments: facts, now, quietMs }, judgement, noFigures));
      if (declaration === undefined) reasons.push(undeclared(nearest(feature, [...declarations.keys()])));
    }
    const lastSeenAt = sightIn(places, feature).lastSeenAt;
    const declaredAt = declaration?.updatedAt ?? null;
    found.push({ feature, kind, since, environments, lastSeenAt, declaredAt, reasons });
    if (found.length % stride === 0) yield;
  }
  return found;
}

function sightIn(places: readonly Place[], feature: string): Sight {
  return places.reduce<Sight>((sight, { sights }) => merge(sight, sights.get(feature) ?? neverSeen), neverSeen);
}

function firstSeenSince(places: readonly Place[], from: number): FirstSeenFeature[] {
  return places.flatMap(({ name, number, sights }) =>
    [...sights].flatMap(([feature, { firstSeenAt: at }]) =>
      at === null || at < from ? [] : [{ environment: { name, number }, feature, at }],
    ),
  );
}

/** Returns features that became stale, except archived and permanent features. */
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

/** Returns when a feature becomes stale, or its snooze ends. */
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

/** Number of hours of refusals that are read, including the current hour. */
const hoursRead = 24;

/** Maximum number of senders that are distinguished, for each reason and environment. */
const maxSenders = 100;

/** Messages of one sender that were refused for one reason in one environment. */
interface SenderRefusals {
  readonly status: number;
  count: number;
  recent: number;
  lastAt: number;
  since: number;
}

/** Finds refusals that are frequent, and senders whose messages were all refused. A leaked key is another finding. */
function* refusalsIn(
  store: UsageTables,
  task: Pick<FindingsTask, 'application' | 'environments' | 'now'>,
  at: Snapshot,
): Reading<RefusalFinding[]> {
  const names = new Map(task.environments.map(({ number, name }) => [number, name]));
  const current = Math.floor(task.now / hourMs);
  const first = current - hoursRead + 1;
  const accepted = new Set<string>([senderProgram(surplusName, null)]);
  const groups = new Map<string, Map<string, SenderRefusals>>();
  const entries = ledgerEntries(store, task.application, first, current + 1, at);
  yield* readEach(entries, ({ hour, dimensions, count, lastAt }) => {
    const { outcome, code, status, environment, userAgent, instance } = dimensions;
    const sender = senderProgram(userAgent, instance);
    if (outcome === 'accepted') accepted.add(sender);
    // In the ledger of an application, this code means a leaked key: other unknown keys have no application.
    const isLeaked = code === 'unknown_key';
    if (outcome !== 'refused' || code === null || isLeaked) return;
    const key = JSON.stringify([names.get(environment ?? -1) ?? null, code]);
    const senders = groups.get(key) ?? new Map<string, SenderRefusals>();
    groups.set(key, senders);
    if (!senders.has(sender) && senders.size >= maxSenders) return;
    const sum = senders.get(sender) ?? { status, count: 0, recent: 0, lastAt: 0, since: 0 };
    senders.set(sender, sum);
    sum.count += count;
    if (hour >= Math.floor((task.now - refusing.countedMs) / hourMs)) sum.recent += count;
    sum.lastAt = Math.max(sum.lastAt, lastAt);
    sum.since = count === 1 ? lastAt : hour * hourMs; // Rows are read from the latest hour to the earliest.
  });
  return Array.from(groups).flatMap(([key, senders]) => {
    const isFrequent =
      sum(senders.values(), 'recent') >= refusing.least &&
      Array.from(senders.values()).some(({ lastAt }) => task.now - lastAt < refusing.quietMs);
    const found = [...senders].filter(([name]) => isFrequent || !accepted.has(name));
    if (found.length === 0) return [];
    const [environment, code] = JSON.parse(key) as [string | null, string];
    const refusals = found.map(([, each]) => each);
    const count = sum(refusals, 'count');
    const since = Math.min(...refusals.map((each) => each.since));
    const isWhole = Math.floor(since / hourMs) > first;
    return [
      {
        environment,
        code,
        status: refusals[0]!.status,
        count,
        since: isWhole ? since : undefined,
        lastAt: Math.max(...refusals.map((each) => each.lastAt)),
        quietMs: isFrequent ? refusing.quietMs : silentMs,
        senders: found.map(([name]) => name),
      },
    ];
  });
}

function sum(senders: Iterable<SenderRefusals>, field: 'count' | 'recent'): number {
  return Array.from(senders).reduce((total, each) => total + each[field], 0);
}
