import type { Owners } from '../accounts/owners.ts';
import type { Overview, OverviewFeature, OverviewUsers } from '../contract/shapes/overview.ts';
import { readNewCounts } from '../storage/aggregate/read-counts.ts';
import {
  countUniqueUsers,
  type Days,
  environmentUsers,
  type UserUnions,
} from '../storage/aggregate/unique-users.ts';
import type { Freshness } from '../storage/commit/usage-store.ts';
import { minutesPerDay } from '../storage/lmdb/blocks.ts';
import { readCarried } from '../storage/lmdb/carried.ts';
import type { Counts } from '../storage/lmdb/cells.ts';
import type { Environment, FeatureDeclaration } from '../storage/lmdb/records.ts';
import { surplusName } from '../storage/lmdb/series.ts';
import { fromSnapshot, type Reading, type Snapshot } from '../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../storage/lmdb/usage.ts';
import { timeText } from './answers.ts';
import { fieldsOf } from './freshly.ts';
import {
  daysParted,
  type HourlyLedger,
  hourlyLedger,
  hoursOver,
  type OverviewBase,
  type OverviewBases,
  type OverviewWanted,
  type PastSeries,
  receivedIn,
} from './overview-base.ts';
import type { Comparison, Span } from './overview-before.ts';
import { daysText, gridOf, hoursAround } from './overview-range.ts';
import { rowsOf } from './overview-rows.ts';
import { readSights, type Sights, SpanTotals, Totals } from './overview-totals.ts';
import { grainOf, minuteText, shownZone } from './report-range.ts';
import { pickSeries } from './sights.ts';
import type { SplitCache } from './split-report.ts';
import { dayMs } from './verdict.ts';
import type { Verdicts } from './verdicts.ts';

export interface OverviewTask extends OverviewWanted {
  readonly environment: Environment;
  /** All environments of the application, for the verdicts. */
  readonly environments: readonly Environment[];
  /** The threshold for stale features. */
  readonly staleAfterMs: number;
  readonly declared: readonly FeatureDeclaration[];
  /** The owners of the features that have any. */
  readonly owned: ReadonlyMap<string, Owners>;
  /** Backend keys that were seen in a packet. */
  readonly leakedKeys: number;
  /** See `Call`. */
  readonly fresh?: Freshness | undefined;
}

/** The caches of earlier overviews. */
export interface Remembered {
  readonly verdicts: Verdicts;
  readonly bases: OverviewBases;
  readonly splits: SplitCache;
}

/** The overview of an environment, read from one snapshot, with the verdicts of the application. */
export function* overviewReport(
  store: UsageTables,
  { verdicts, bases, splits }: Remembered,
  task: OverviewTask,
): Reading<Overview> {
  const judged = yield* verdicts.of(task, task.environment.number);
  const { declared, now } = task;
  const measured = yield* splits.of({ environment: task.environment.number, declared, now });
  return yield* fromSnapshot(store.lmdb, function* (at) {
    const { environment, range, comparison } = task;
    const [base, sights] = yield* readKnown(store, task, bases, at);
    const counted = yield* countAll(store, task, base, bases, at);
    const ledger = yield* readLedger(store, task, base, at);
    const hours = { from: Math.floor(range.from / 60), to: Math.ceil(range.to / 60) };
    const { start, width, length, starts, spark } = gridOf(range);
    const said = { declared, owned: task.owned, splits: measured, ...judged };
    const features = rowsOf(
      base.names,
      { ...counted, from: comparison?.before.from },
      sights,
      said,
      spark.length,
    );
    const { checks, used, viewed } = counted.totals.series;
    return {
      environment: environment.name,
      from: minuteText(range.from),
      to: minuteText(range.to),
      step: range.step,
      ...shownZone(range),
      at: timeText(now),
      completeThrough: timeText(now),
      ...fieldsOf(task.fresh),
      checksOnly: [...judged.checksOnly],
      staleAfterDays: task.staleAfterMs / dayMs,
      totals: { ...counted.total, ...receivedIn(ledger, hours) },
      before: showBefore(task.comparison, counted, sights, ledger),
      ...(yield* countUsers(store, task, base, sights, at)),
      start,
      width,
      length,
      ...(starts && { starts: [...starts] }),
      series: { checks: [...checks], used: [...used], viewed: [...viewed] },
      hourly: showHourly(ledger, hours),
      states: statesOf(features, task.leakedKeys),
      spark,
      features,
    };
  });
}

/** The base, and when the features were seen. A base that lacks a new series is read again. */
function* readKnown(
  store: UsageTables,
  task: OverviewTask,
  bases: OverviewBases,
  at: Snapshot,
): Reading<readonly [OverviewBase, Sights]> {
  const { number } = task.environment;
  const carried = readCarried(store.carried, number, at);
  const base = yield* bases.get(task, carried, at);
  const sights = yield* readSights(store, number, base.names, at);
  if (sights !== undefined) return [base, sights];
  const whole = yield* bases.get(task, carried, at, true);
  return [whole, (yield* readSights(store, number, whole.names, at))!];
}

interface Counted {
  readonly totals: Totals;
  readonly total: Counts;
  readonly against: Counts;
  readonly before: SpanTotals;
  readonly past: PastSeries | undefined;
  /** The end of the range, which is not compared. */
  readonly rest: SpanTotals;
}

/** Adds the last minutes to the base. */
function* countAll(
  store: UsageTables,
  task: OverviewTask,
  base: OverviewBase,
  bases: OverviewBases,
  at: Snapshot,
): Reading<Counted> {
  const { environment, range, comparison } = task;
  const carried = readCarried(store.carried, environment.number, at);
  const grid = gridOf(range);
  const totals = new Totals(base.names, grid, base.totals);
  const whole = { ...range, grain: grainOf(range) };
  yield* readNewCounts(store, environment.number, whole, carried, at, (block) =>
    totals.add(block, base.names, grid),
  );
  const plus = function* (known: SpanTotals, span: Span | undefined): Reading<SpanTotals> {
    const sum = new SpanTotals(base.names, known);
    const wanted = span && { ...span, grain: 'minute' as const };
    if (wanted)
      yield* readNewCounts(store, environment.number, wanted, carried, at, (block) =>
        sum.add(block, base.names),
      );
    return sum;
  };
  const total = totals.total();
  const rest = yield* plus(base.rest, comparison && { from: comparison.against.to, to: range.to });
  const before = yield* plus(base.before, comparison?.before);
  const past = (yield* bases.past.get(task, carried, at))?.copy();
  if (past) {
    const wanted = { ...past.span, grain: 'minute' } as const;
    yield* readNewCounts(store, environment.number, wanted, carried, at, (block) => past.add(block));
  }
  return { totals, total, against: minus(total, rest.counts), before, rest, past };
}

function minus(whole: Counts, part: Counts): Counts {
  return {
    checks: whole.checks - part.checks,
    used: whole.used - part.used,
    viewed: whole.viewed - part.viewed,
  };
}

/** The complete hours and the rest. */
function* readLedger(
  store: UsageTables,
  task: OverviewTask,
  { ledger }: OverviewBase,
  at: Snapshot,
): Reading<HourlyLedger> {
  const { from, to } = hoursAround(task);
  const rest = { from: hoursOver(task).to, to };
  const last = yield* hourlyLedger(store, task.application, task.environment.number, rest, at);
  return {
    from,
    accepted: [...ledger.accepted, ...last.accepted],
    refused: [...ledger.refused, ...last.refused],
  };
}

/** `null` if nothing was counted at the start of the previous range. Messages are compared by whole hours. */
function showBefore(
  comparison: Comparison | undefined,
  counted: Counted,
  { earliest }: Sights,
  ledger: HourlyLedger,
): Overview['before'] {
  if (comparison === undefined || earliest > comparison.before.from) return null;
  const { against, before } = comparison;
  const first = Math.floor(against.from / 60);
  const hours = Math.floor(against.to / 60) - first;
  const earlier = first - Math.ceil((against.from - before.from) / 60);
  return {
    ...showSpan(before),
    ...counted.before.counts,
    ...(counted.past && { series: showSeries(counted.past) }),
    ...receivedIn(ledger, { from: earlier, to: earlier + hours }),
    against: {
      ...showSpan(against),
      ...counted.against,
      ...receivedIn(ledger, { from: first, to: first + hours }),
    },
  };
}

function showSeries({ checks, used, viewed }: PastSeries) {
  return { checks, used, viewed };
}

function showSpan({ from, to }: Span) {
  return { from: minuteText(from), to: minuteText(to) };
}

function showHourly({ from: start, accepted, refused }: HourlyLedger, { from, to }: Span) {
  const part = (hours: readonly number[]) => hours.slice(from - start, to - start);
  return { start: from * 3600, length: to - from, accepted: part(accepted), refused: part(refused) };
}

/** Users of the UTC days that the range touches, and of the complete ones for the comparison. */
function* countUsers(
  store: UsageTables,
  task: OverviewTask,
  { users, usersBefore }: OverviewBase,
  { earliest }: Sights,
  at: Snapshot,
): Reading<Pick<Overview, 'users' | 'usersBefore' | 'days'>> {
  const { over, before, rest } = daysParted(task);
  const today = yield* environmentUsers(store, task.environment.number, rest, at);
  const against = { count: users.all.estimate(), ...daysText(over) };
  const isComparable = before.to > before.from && earliest <= before.from * minutesPerDay;
  today.all.merge(users.all);
  return {
    users: { count: today.all.estimate(), ...daysText({ from: over.from, to: rest.to }) },
    usersBefore: isComparable ? { count: usersBefore.all.estimate(), ...daysText(before), against } : null,
    days: [...users.byDay, ...today.byDay].map((count, index) => [(over.from + index) * 86_400, count]),
  };
}

/** The features that need attention. The team is done with the archived ones. */
function statesOf(features: readonly OverviewFeature[], leakedKeys: number): Overview['states'] {
  const states = {
    safeToRemove: 0,
    stale: 0,
    oneVariant: 0,
    undeclared: 0,
    archivedButAsked: 0,
    leakedKeys,
    snoozed: 0,
  };
  for (const { feature, verdict, declared, archived } of features) {
    if (archived && verdict !== 'archived_but_asked') continue;
    if (!declared && feature !== surplusName) states.undeclared += 1;
    if (verdict === 'safe_to_remove') states.safeToRemove += 1;
    if (verdict === 'not_seen' || verdict === 'safe_to_remove') states.stale += 1;
    else if (verdict === 'one_variant') states.oneVariant += 1;
    else if (verdict === 'archived_but_asked') states.archivedButAsked += 1;
    else if (verdict === 'snoozed') states.snoozed += 1;
  }
  return states;
}

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
): Reading<OverviewUsers> {
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
