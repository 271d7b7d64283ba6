import { canGo, refusing } from '../../contract/health.ts';
import { surplusName } from '../../contract/names.ts';
import { nearest } from '../../contract/nearest.ts';
import { senderProgram } from '../../contract/programs.ts';
import { maxSubjects } from '../../contract/shapes/health.ts';
import type { FeatureSplit } from '../../contract/shapes/split.ts';
import type { Verdict } from '../../contract/shapes/verdict.ts';
import type { VerdictKind } from '../../contract/verdicts.ts';
import { ledgerEntries } from '../../storage/lmdb/ledger.ts';
import type { FeatureDeclaration } from '../../storage/lmdb/records.ts';
import { slotMs } from '../../storage/lmdb/senders.ts';
import { fromSnapshot, type Reading, readEach, type Snapshot } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import type {
  Findings,
  FirstSeenFeature,
  FoundVerdict,
  RefusedMessages,
  StaleFeature,
  WatchTask,
} from '../../webhooks/findings.ts';
import type { SplitCache } from '../experiments/split-report.ts';
import { merge, neverSeen, type Sight } from '../usage/sights.ts';
import { explainJudgement, type Figures, undeclared } from './verdict-reasons.ts';
import { factsWithAskers, judgeIn, type Place, placesAt, type Verdicts, type VerdictsTask } from './verdicts.ts';

export interface FindingsTask extends VerdictsTask {
  /** Number of the application. */
  readonly application: number;
}

/** The findings about flags. */
export type FeatureFindingKind = 'archived_but_asked' | 'flags_can_go' | 'split_mismatch' | 'undeclared';

/** The number of names found, and the first of these names. */
interface NameSample {
  readonly count: number;
  readonly names: readonly string[];
}

/** The flags of an environment, or of the whole application. */
export interface FeatureFindings {
  /** Number of flags seen or declared. */
  readonly flags: number;
  readonly found: Readonly<Record<FeatureFindingKind, NameSample>>;
}

/** Messages of an environment that were refused for one reason. The page of received messages has the same hours. */
interface RefusalFinding {
  /** Name of the environment; `null` if the messages named no existing environment. */
  readonly environment: string | null;
  readonly code: string;
  /** Number of refused messages. */
  readonly count: number;
  /** Time of the first refusal, Unix ms, to the hour; `undefined` if it can be older than the hours read. */
  readonly since: number | undefined;
  /** Names of the programs, in the order of their latest refusals. */
  readonly senders: readonly string[];
  /** True if the senders are all senders with this reason. */
  readonly all: boolean;
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
  const { kinds, places } = yield* verdicts.of(task);
  const refused = yield* fromSnapshot(store.lmdb, (at) => refusalsIn(store, task, at));
  const off = new Map<string, ReadonlySet<string>>();
  for (const { name, number } of places) {
    const found = yield* splits.of({ environment: number, declared: task.declared, now });
    // Only a split measured by users is precise enough for a warning.
    const isOff = ([, { state, of }]: readonly [string, FeatureSplit]) => state === 'off' && of === 'users';
    off.set(name, new Set([...found].filter(isOff).map(([feature]) => feature)));
  }
  const findFeatures = featureFinder(task.declared, kinds);
  return {
    environments: places.map((place) => ({
      name: place.name,
      lastReceivedAt: lastReceived(place, now),
      ...findFeatures((name) => place.sights.has(name), off.get(place.name)),
    })),
    all: findFeatures(() => true, undefined),
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
function featureFinder(
  declared: readonly FeatureDeclaration[],
  kinds: ReadonlyMap<string, VerdictKind>,
): (isSeen: (name: string) => boolean, off: ReadonlySet<string> | undefined) => FeatureFindings {
  const declarations = new Map(declared.map((each) => [each.name, each]));
  return (isSeen, off) => {
    const found = { archived_but_asked: none(), flags_can_go: none(), split_mismatch: none(), undeclared: none() };
    let flags = 0;
    for (const [name, kind] of kinds) {
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
      refused: refusedFrom === null ? [] : yield* refusedSince(store, task, refusedFrom, at),
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

/** Number of hours of refusals that are read, including the current one. */
const hoursRead = 24;

/** Maximum number of senders that are distinguished, for each reason and environment. */
const maxSenders = 100;

/** Messages of one sender that were refused for one reason in one environment. */
interface SenderRefusals {
  count: number;
  recent: number;
  lastAt: number;
  since: number;
}

/** Finds refusals that are frequent, and senders whose messages were all refused. A leaked key is another finding. */
function* refusalsIn(store: UsageTables, task: FindingsTask, at: Snapshot): Reading<RefusalFinding[]> {
  const names = new Map(task.environments.map(({ number, name }) => [number, name]));
  const current = Math.floor(task.now / hourMs);
  const first = current - hoursRead + 1;
  const accepted = new Set<string>([senderProgram(surplusName, null)]);
  const groups = new Map<string, Map<string, SenderRefusals>>();
  const entries = ledgerEntries(store, task.application, first, current + 1, at);
  yield* readEach(entries, ({ hour, dimensions, count, lastAt }) => {
    const { outcome, code, environment, userAgent, instance } = dimensions;
    const sender = senderProgram(userAgent, instance);
    if (outcome === 'accepted') accepted.add(sender);
    // In the ledger of an application, this code means a leaked key: other unknown keys have no application.
    const isLeaked = code === 'unknown_key';
    if (outcome !== 'refused' || code === null || isLeaked) return;
    const key = JSON.stringify([names.get(environment ?? -1) ?? null, code]);
    const senders = groups.get(key) ?? new Map<string, SenderRefusals>();
    groups.set(key, senders);
    if (!senders.has(sender) && senders.size >= maxSenders) return;
    const sum = senders.get(sender) ?? { count: 0, recent: 0, lastAt: 0, since: 0 };
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
    const all = found.length === senders.size;
    return [
      { environment, code, count, since: isWhole ? since : undefined, senders: found.map(([name]) => name), all },
    ];
  });
}

function sum(senders: Iterable<SenderRefusals>, field: 'count' | 'recent'): number {
  return Array.from(senders).reduce((total, each) => total + each[field], 0);
}

/** Returns the refusals of an application since `from`, grouped by environment and reason. */
function* refusedSince(
  store: UsageTables,
  { application, environments }: Pick<WatchTask, 'application' | 'environments'>,
  from: number,
  at: Snapshot,
): Reading<RefusedMessages[]> {
  const names = new Map(environments.map((each) => [each.number, each]));
  const found = new Map<string, RefusedMessages>();
  const entries = ledgerEntries(store, application, Math.floor(from / hourMs), 2 ** 32 - 1, at, 'refused');
  yield* readEach(entries, ({ dimensions: { code, status, environment: number }, count, lastAt }) => {
    if (code === null) return;
    const known = number === null ? undefined : names.get(number);
    const environment = known === undefined ? null : { name: known.name, number: known.number };
    const key = `${environment?.number} ${code}`;
    const before = found.get(key) ?? { count: 0, lastAt: 0 };
    const sum = { count: before.count + count, lastAt: Math.max(before.lastAt, lastAt) };
    found.set(key, { environment, code, status, ...sum });
  });
  return [...found.values()].filter(({ lastAt }) => lastAt >= from);
}
