import { addCounts } from '../aggregate/merge.ts';
import { readCounts } from '../aggregate/read-counts.ts';
import { type Days, environmentUsers } from '../aggregate/unique-users.ts';
import { type Counts, countsCodec } from '../store/cells.ts';
import type { Environment, FeatureDeclaration } from '../store/records.ts';
import { surplusName } from '../store/series.ts';
import { fromSnapshot, type Reading, type Snapshot } from '../store/snapshot.ts';
import type { UsageStore } from '../store/usage.ts';
import { timeText } from './answers.ts';
import { type HourlyLedger, hourlyLedger, receivedIn } from './overview-ledger.ts';
import type { Comparison, OverviewRange, Span } from './overview-range.ts';
import { type Row, type Rows, readRows } from './overview-rows.ts';
import type { OverviewFeature, OverviewShown } from './overview-shape.ts';
import { bucketStart, minuteText, type ReportRange, stepMinutes } from './report-range.ts';
import type { VerdictKind } from './verdict-shape.ts';
import type { Verdicts } from './verdicts.ts';

export interface OverviewTask extends OverviewRange {
  /** Number of the application. */
  readonly application: number;
  readonly environment: Environment;
  /** All environments of the application, of which the verdicts are. */
  readonly environments: readonly Environment[];
  /** After how long a feature is stale. */
  readonly staleAfterMs: number;
  /** Unix ms. */
  readonly now: number;
  readonly declared: readonly FeatureDeclaration[];
  /** Backend keys that were seen in a packet. */
  readonly leakedKeys: number;
}

/** The most points of a sparkline, and the most variants of a row. */
const [maxSpark, maxVariants] = [30, 8];

const minuteMs = 60_000;
const day = 1440;

/** The whole overview of an environment, read from one snapshot, with the verdicts of the application. */
export function* overviewReport(
  store: UsageStore,
  verdicts: Verdicts,
  task: OverviewTask,
): Reading<OverviewShown> {
  const kinds = yield* verdicts.of(task);
  return yield* fromSnapshot(store.lmdb, function* (at) {
    const { environment, range, now } = task;
    const grid = gridOf(range);
    const counted = yield* countRows(store, task, grid, at);
    const comparison = counted.firstSeen > (task.comparison?.before.from ?? 0) ? undefined : task.comparison;
    const compared = comparison && (yield* countBoth(store, environment.number, comparison, at));
    const ledger = yield* hourlyLedger(
      store,
      task.application,
      environment.number,
      around(range, comparison),
      at,
    );
    const users = yield* countUsers(store, task, counted.firstSeen, at);
    const features = counted.rows
      .filter(isShown)
      .map((row) => describe(row, kinds))
      .sort(byChecks);
    const { from, to, step } = range;
    const hours = { from: Math.floor(from / 60), to: Math.ceil(to / 60) };
    return {
      environment: environment.name,
      from: minuteText(from),
      to: minuteText(to),
      step,
      at: timeText(now),
      completeThrough: timeText(now),
      totals: { ...counted.total, ...receivedIn(ledger, hours) },
      before: comparison && compared ? showBoth(comparison, compared, ledger) : null,
      ...users,
      start: grid.start,
      width: grid.width,
      length: grid.length,
      series: counted.series,
      hourly: showHourly(ledger, hours),
      states: statesOf(features, task.leakedKeys),
      spark: grid.spark,
      features,
    };
  });
}

interface Grid {
  /** Unix seconds. */
  readonly start: number;
  readonly width: number;
  readonly length: number;
  readonly spark: { readonly start: number; readonly width: number; readonly length: number };
}

/** Every bucket that the range touches. */
function gridOf({ from, to, step }: ReportRange): Grid {
  const start = bucketStart(from, step);
  const width = stepMinutes[step] * 60;
  const length = Math.ceil((to * 60 - start) / width);
  const each = Math.ceil(length / maxSpark);
  return { start, width, length, spark: { start, width: each * width, length: Math.ceil(length / each) } };
}

interface Counted extends Rows {
  readonly total: Counts;
  readonly series: Record<keyof Counts, number[]>;
}

/** Adds up the range: rows, sparklines, and the series of the environment. */
function* countRows(
  store: UsageStore,
  { environment, range, declared }: OverviewTask,
  { start, width, length, spark }: Grid,
  at: Snapshot,
): Reading<Counted> {
  const rows = yield* readRows(store, environment.number, declared, spark.length, at);
  const total = countsCodec.empty();
  const zeros = () => new Array<number>(length).fill(0);
  const series = { checks: zeros(), used: zeros(), viewed: zeros() };
  const wanted = { ...range, grain: range.step };
  yield* readCounts(store, environment.number, wanted, at, (ordinal, minute, checks, used, viewed) => {
    const variant = rows.variants[ordinal];
    if (variant === undefined) return;
    const { row } = variant;
    const since = minute * 60 - start;
    const bucket = Math.max(0, Math.floor(since / width));
    variant.checks += checks;
    row.used += used;
    row.viewed += viewed;
    row.spark[Math.max(0, Math.floor(since / spark.width))]! += checks;
    series.checks[bucket]! += checks;
    series.used[bucket]! += used;
    series.viewed[bucket]! += viewed;
    total.checks += checks;
    total.used += used;
    total.viewed += viewed;
  });
  return { ...rows, total, series };
}

interface Compared {
  readonly against: Counts;
  readonly before: Counts;
}

function* countBoth(
  store: UsageStore,
  environment: number,
  { against, before }: Comparison,
  at: Snapshot,
): Reading<Compared> {
  return {
    against: yield* countAll(store, environment, against, at),
    before: yield* countAll(store, environment, before, at),
  };
}

function* countAll(store: UsageStore, environment: number, span: Span, at: Snapshot): Reading<Counts> {
  const total = countsCodec.empty();
  const wanted = { ...span, grain: 'day' } as const;
  yield* readCounts(store, environment, wanted, at, (_ordinal, _minute, checks, used, viewed) =>
    addCounts(total, checks, used, viewed),
  );
  return total;
}

function around({ from, to }: Span, comparison: Comparison | undefined): Span {
  return { from: Math.min(from, comparison?.before.from ?? from), to };
}

/** What came in is known by the hour: as many whole hours of both. */
function showBoth({ against, before }: Comparison, counts: Compared, ledger: HourlyLedger) {
  const first = Math.floor(against.from / 60);
  const hours = Math.floor(against.to / 60) - first;
  const earlier = first - Math.ceil((against.from - before.from) / 60);
  return {
    ...showSpan(before),
    ...counts.before,
    ...receivedIn(ledger, { from: earlier, to: earlier + hours }),
    against: {
      ...showSpan(against),
      ...counts.against,
      ...receivedIn(ledger, { from: first, to: first + hours }),
    },
  };
}

function showSpan({ from, to }: Span) {
  return { from: minuteText(from), to: minuteText(to) };
}

function showHourly({ from: start, accepted, refused }: HourlyLedger, { from, to }: Span) {
  const part = (hours: number[]) => hours.slice(from - start, to - start);
  return { start: from * 3600, length: to - from, accepted: part(accepted), refused: part(refused) };
}

/** Users of the UTC days that the range touches, as far as they have begun; and of those that are over, to compare them. */
function* countUsers(
  store: UsageStore,
  { environment, range, now }: OverviewTask,
  firstSeen: number,
  at: Snapshot,
): Reading<Pick<OverviewShown, 'users' | 'usersBefore' | 'days'>> {
  const { from, to } = daysOf(range, now);
  const today = Math.floor(now / minuteMs / day);
  const over = { from, to: Math.min(to, today) };
  const before = { from: from - (over.to - from), to: from };
  const isComparable = over.to > from && firstSeen <= before.from * day;
  const wanted = [{ from, to }, over, before];
  const { byDay, of } = yield* environmentUsers(store, environment.number, wanted, at);
  return {
    users: { count: of[0]!, ...daysText({ from, to }) },
    usersBefore: isComparable
      ? { count: of[2]!, ...daysText(before), against: { count: of[1]!, ...daysText(over) } }
      : null,
    days: Array.from({ length: to - from }, (_, index) => [
      (from + index) * day * 60,
      byDay.get(from + index) ?? 0,
    ]),
  };
}

/** The UTC days that a range touches and that have begun, at least one. */
export function daysOf(range: Span, now: number): Days {
  const today = Math.floor(now / minuteMs / day);
  const from = Math.min(Math.floor(range.from / day), today);
  return { from, to: Math.max(from + 1, Math.min(Math.ceil(range.to / day), today + 1)) };
}

/** The first and the last day, as dates. */
export function daysText({ from, to }: Days): { readonly from: string; readonly to: string } {
  const text = (each: number) => new Date(each * day * minuteMs).toISOString().slice(0, 10);
  return { from: text(from), to: text(to - 1) };
}

/** What was folded over a limit is a row only when it counts. */
function isShown({ feature, variants, used, viewed }: Row): boolean {
  return feature !== surplusName || used + viewed > 0 || variants.some(({ checks }) => checks > 0);
}

function byChecks(a: OverviewFeature, b: OverviewFeature): number {
  return b.checks - a.checks || (a.feature < b.feature ? -1 : 1);
}

function describe(row: Row, kinds: ReadonlyMap<string, VerdictKind>): OverviewFeature {
  const { feature, declaration, used, viewed, spark, firstSeen, lastSeen } = row;
  const seenAt = (minute: number) => (minute === 0 ? null : minuteText(minute));
  const { archived = false, permanent = false, snoozedUntil = null } = declaration ?? {};
  return {
    feature,
    checks: row.variants.reduce((sum, { checks }) => sum + checks, 0),
    used,
    viewed,
    spark: Array.from(spark),
    variants: showVariants(row),
    firstSeenAt: seenAt(firstSeen),
    lastSeenAt: seenAt(lastSeen),
    declared: declaration !== undefined,
    archived,
    permanent,
    snoozedUntil: timeText(snoozedUntil),
    // What was folded is not one feature, and what is not known yet is new.
    verdict: feature === surplusName ? 'in_use' : (kinds.get(feature) ?? 'new'),
  };
}

function showVariants({ variants }: Row): [string, number][] {
  const counted = variants.filter(({ checks }) => checks > 0).sort((a, b) => b.checks - a.checks);
  const shown = counted
    .slice(0, maxVariants)
    .map(({ variant, checks }): [string, number] => [variant, checks]);
  const rest = counted.slice(maxVariants).reduce((sum, { checks }) => sum + checks, 0);
  return rest > 0 ? [...shown, ['…', rest]] : shown;
}

function statesOf(features: readonly OverviewFeature[], leakedKeys: number): OverviewShown['states'] {
  const states = { stale: 0, oneVariant: 0, undeclared: 0, archivedButAsked: 0, leakedKeys, snoozed: 0 };
  for (const { feature, verdict, declared } of features) {
    if (!declared && feature !== surplusName) states.undeclared += 1;
    if (verdict === 'not_seen') states.stale += 1;
    else if (verdict === 'one_variant') states.oneVariant += 1;
    else if (verdict === 'archived_but_asked') states.archivedButAsked += 1;
    else if (verdict === 'snoozed') states.snoozed += 1;
  }
  return states;
}
