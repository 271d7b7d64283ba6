import { type Owners, showOwned } from '../../accounts/owners.ts';
import { surplusName } from '../../contract/names.ts';
import type { Overview, OverviewFeature, OverviewUsers } from '../../contract/shapes/overview.ts';
import type { VerdictKind } from '../../contract/verdicts.ts';
import { timeText } from '../../runtime/rfc3339.ts';
import { readNewCounts } from '../../storage/aggregate/read-counts.ts';
import { countUniqueUsers, environmentUsers, type UserUnions } from '../../storage/aggregate/unique-users.ts';
import type { Freshness } from '../../storage/commit/usage-store.ts';
import { type Counts, minutesPerDay } from '../../storage/lmdb/blocks.ts';
import type { Environment, FeatureDeclaration } from '../../storage/lmdb/records.ts';
import { readRollUpState } from '../../storage/lmdb/roll-up-state.ts';
import { fromSnapshot, type Reading, type Snapshot } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import type { SplitCache, Splits } from '../experiments/split-report.ts';
import { describeFreshness } from '../usage/freshness.ts';
import { chooseGrain, daysText, findUserDays, minuteText, type ReportRange, shownZone } from '../usage/report-range.ts';
import { pickSeries } from '../usage/sights.ts';
import { dayMs } from '../verdicts/verdict.ts';
import type { AllVerdicts, Verdicts } from '../verdicts/verdicts.ts';
import {
  type HourlyLedger,
  hourlyLedger,
  hoursOver,
  type Names,
  type OverviewBase,
  type OverviewBases,
  type OverviewRequest,
  type PastSeries,
  readSights,
  receivedIn,
  type Sights,
  SpanTotals,
  splitDays,
  Totals,
} from './overview-counts.ts';
import { type Comparison, createGrid, hoursAround, type Span } from './overview-range.ts';

export interface OverviewTask extends OverviewRequest {
  readonly environment: Environment;
  /** All environments of the application, for the verdicts. */
  readonly environments: readonly Environment[];
  /** The threshold for stale features. */
  readonly staleAfterMs: number;
  readonly declared: readonly FeatureDeclaration[];
  /** Owners by feature name. Features without owners are not included. */
  readonly owned: ReadonlyMap<string, Owners>;
  /** Number of backend keys that were received in packets. */
  readonly leakedKeys: number;
  /** See `Call`. */
  readonly fresh?: Freshness | undefined;
}

/** The caches of earlier overviews. */
interface OverviewCaches {
  readonly verdicts: Verdicts;
  readonly bases: OverviewBases;
  readonly splits: SplitCache;
}

/** Creates the overview of an environment, read from one snapshot, with the verdicts of the application. */
export function* overviewReport(
  store: UsageTables,
  { verdicts, bases, splits }: OverviewCaches,
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
    const { start, width, length, starts, spark } = createGrid(range);
    const said = { declared, owned: task.owned, splits: measured, ...judged };
    const features = createRows(base.names, { ...counted, from: comparison?.before.from }, sights, said, spark.length);
    const { checks, used, viewed } = counted.totals.series;
    return {
      environment: environment.name,
      from: minuteText(range.from),
      to: minuteText(range.to),
      step: range.step,
      ...shownZone(range),
      at: timeText(now),
      completeThrough: timeText(now),
      ...describeFreshness(task.fresh),
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
      states: countStates(features, task.leakedKeys),
      spark,
      features,
    };
  });
}

/** Reads the base, and the times at which features were seen. Reads the base again if it lacks a new series. */
function* readKnown(
  store: UsageTables,
  task: OverviewTask,
  bases: OverviewBases,
  at: Snapshot,
): Reading<readonly [OverviewBase, Sights]> {
  const { number } = task.environment;
  const carried = readRollUpState(store.carried, number, at);
  const base = yield* bases.get(task, carried, at);
  const sights = yield* readSights(store, number, base.names, at);
  if (sights !== undefined) return [base, sights];
  const whole = yield* bases.get(task, carried, at, true);
  return [whole, (yield* readSights(store, number, whole.names, at))!];
}

interface OverviewCounts {
  readonly totals: Totals;
  readonly total: Counts;
  readonly against: Counts;
  readonly before: SpanTotals;
  readonly past: PastSeries | undefined;
  /** The counts of the end of the range, which is not compared. */
  readonly rest: SpanTotals;
}

/** Adds the last minutes to the base. */
function* countAll(
  store: UsageTables,
  task: OverviewTask,
  base: OverviewBase,
  bases: OverviewBases,
  at: Snapshot,
): Reading<OverviewCounts> {
  const { environment, range, comparison } = task;
  const carried = readRollUpState(store.carried, environment.number, at);
  const grid = createGrid(range);
  const totals = new Totals(base.names, grid, base.totals);
  const whole = { ...range, grain: chooseGrain(range) };
  yield* readNewCounts(store, environment.number, whole, carried, at, (block) => totals.add(block, base.names, grid));
  const plus = function* (known: SpanTotals, span: Span | undefined): Reading<SpanTotals> {
    const sum = new SpanTotals(base.names, known);
    const wanted = span && { ...span, grain: 'minute' as const };
    if (wanted)
      yield* readNewCounts(store, environment.number, wanted, carried, at, (block) => sum.add(block, base.names));
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
  return { checks: whole.checks - part.checks, used: whole.used - part.used, viewed: whole.viewed - part.viewed };
}

/** Reads the ledger: the complete hours, and the current hour. */
function* readLedger(
  store: UsageTables,
  task: OverviewTask,
  { ledger }: OverviewBase,
  at: Snapshot,
): Reading<HourlyLedger> {
  const { from, to } = hoursAround(task);
  const rest = { from: hoursOver(task).to, to };
  const last = yield* hourlyLedger(store, task.application, task.environment.number, rest, at);
  return { from, accepted: [...ledger.accepted, ...last.accepted], refused: [...ledger.refused, ...last.refused] };
}

/**
 * Returns the counts of the previous range, or `null` if nothing was counted before that range began. Messages are
 * compared by whole hours.
 */
function showBefore(
  comparison: Comparison | undefined,
  counted: OverviewCounts,
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
    against: { ...showSpan(against), ...counted.against, ...receivedIn(ledger, { from: first, to: first + hours }) },
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

/** Counts the users of the complete UTC days of the range, and of today if needed: see `findUserDays`. */
function* countUsers(
  store: UsageTables,
  task: OverviewTask,
  { users, usersBefore }: OverviewBase,
  { earliest }: Sights,
  at: Snapshot,
): Reading<Pick<Overview, 'users' | 'usersBefore' | 'days'>> {
  const { over, before, rest } = splitDays(task);
  const today = yield* environmentUsers(store, task.environment.number, rest, at);
  const against = { count: users.all.estimate(), ...daysText(over) };
  const isWhole = against.count > 0;
  const isComparable = isWhole && before.to > before.from && earliest <= before.from * minutesPerDay;
  today.all.merge(users.all);
  return {
    users: isWhole ? against : { count: today.all.estimate(), ...daysText({ from: over.from, to: rest.to }) },
    usersBefore: isComparable ? { count: usersBefore.all.estimate(), ...daysText(before), against } : null,
    days: [...users.byDay, ...today.byDay].map((count, index) => [(over.from + index) * 86_400, count]),
  };
}

/** Counts the features that need attention. Archived features do not need attention. */
function countStates(features: readonly OverviewFeature[], leakedKeys: number): Overview['states'] {
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

/** Maximum number of variants in a row. */
const maxVariants = 8;

interface RowCounts extends Pick<OverviewCounts, 'totals' | 'before' | 'rest'> {
  /** Start of the previous range, minutes; `undefined` if data of that time is not kept. */
  readonly from: number | undefined;
}

/** The declarations and verdicts that the rows show. */
interface RowNotes extends Pick<AllVerdicts, 'judgements' | 'checksOnlyBy'> {
  readonly splits: Splits;
  readonly declared: readonly FeatureDeclaration[];
  readonly owned: ReadonlyMap<string, Owners>;
}

/**
 * Creates the rows of all features that were seen or declared, most checks first. Omits `__other__` if it has no
 * counts.
 * @param points number of points in a sparkline
 */
function createRows(
  names: Names,
  { totals, ...spans }: RowCounts,
  sights: Sights,
  { declared, owned, judgements, checksOnlyBy, splits }: RowNotes,
  points: number,
): OverviewFeature[] {
  const declarations = new Map(declared.map((each) => [each.name, each]));
  const variants = listVariants(names, totals);
  const seen = names.features.map((feature, number) => {
    const declaration = declarations.get(feature);
    const checksOnly = checksOnlyBy.get(feature);
    const recent = judgements.get(feature)?.variants?.length;
    const split = splits.get(feature);
    const checks = variants[number]!.reduce((sum, [, each]) => sum + each, 0);
    return {
      feature,
      checks,
      ...describeComparison(number, checks, spans, sights),
      used: totals.used[number]!,
      viewed: totals.viewed[number]!,
      spark: [...totals.spark.subarray(number * points, (number + 1) * points)],
      variants: showVariants(variants[number]!),
      firstSeenAt: seenAt(sights.first[number]!),
      lastSeenAt: seenAt(sights.last[number]!),
      ...showDeclaration(declaration, owned.get(feature)),
      verdict: findVerdict(feature, judgements),
      ...(recent !== undefined && { recentVariants: recent }),
      ...(split && { split }),
      ...(checksOnly && { checksOnly: [...checksOnly] }),
    };
  });
  const known = new Set(names.features);
  const unseen = declared
    .filter(({ name }) => !known.has(name))
    .map((declaration) => showUnseen(declaration, points, { owned, judgements, splits }));
  return [...seen, ...unseen].filter(isShown).sort(byChecks);
}

/**
 * Returns the checks to compare with. Omits a feature that was first seen after the previous range began, because its
 * first reports would look like growth.
 */
function describeComparison(
  number: number,
  checks: number,
  { before, rest, from }: Omit<RowCounts, 'totals'>,
  { first }: Sights,
): Pick<OverviewFeature, 'compared'> {
  if (from === undefined || first[number] === 0 || first[number]! > from) return {};
  return { compared: [checks - rest.checks[number]!, before.checks[number]!] };
}

type VariantChecks = [variant: string, checks: number];

/** Lists the variants with checks, by feature. */
function listVariants({ features, featureByOrdinal, variantByOrdinal }: Names, { checks }: Totals): VariantChecks[][] {
  const variants: VariantChecks[][] = features.map(() => []);
  for (const [ordinal, variant] of variantByOrdinal.entries()) {
    if (variant !== undefined && checks[ordinal]! > 0) {
      variants[featureByOrdinal[ordinal]!]!.push([variant, checks[ordinal]!]);
    }
  }
  return variants;
}

function showVariants(variants: readonly VariantChecks[]): VariantChecks[] {
  const sorted = variants.toSorted(([, a], [, b]) => b - a);
  const rest = sorted.slice(maxVariants).reduce((sum, [, checks]) => sum + checks, 0);
  return rest > 0 ? [...sorted.slice(0, maxVariants), ['…', rest]] : sorted;
}

function showUnseen(
  declaration: FeatureDeclaration,
  points: number,
  { owned, judgements, splits }: Pick<RowNotes, 'owned' | 'judgements' | 'splits'>,
): OverviewFeature {
  const split = splits.get(declaration.name);
  return {
    feature: declaration.name,
    checks: 0,
    used: 0,
    viewed: 0,
    variants: [],
    spark: new Array<number>(points).fill(0),
    firstSeenAt: null,
    lastSeenAt: null,
    ...showDeclaration(declaration, owned.get(declaration.name)),
    verdict: findVerdict(declaration.name, judgements),
    ...(split && { split }),
  };
}

/** Returns the verdict on a feature. `__other__` is not a single feature, and a feature without a verdict is new. */
function findVerdict(feature: string, judgements: RowNotes['judgements']): VerdictKind {
  return feature === surplusName ? 'in_use' : (judgements.get(feature)?.kind ?? 'new');
}

function showDeclaration(declaration: FeatureDeclaration | undefined, owners: Owners | undefined) {
  return {
    declared: declaration !== undefined,
    archived: declaration?.archived ?? false,
    permanent: declaration?.permanent ?? false,
    snoozedUntil: timeText(declaration?.snoozedUntil ?? null),
    ...showOwned(declaration, owners),
  };
}

function seenAt(minute: number): string | null {
  return minute === 0 ? null : minuteText(minute);
}

function isShown({ feature, checks, used, viewed }: OverviewFeature): boolean {
  return feature !== surplusName || checks + used + viewed > 0;
}

function byChecks(a: OverviewFeature, b: OverviewFeature): number {
  return b.checks - a.checks || (a.feature < b.feature ? -1 : 1);
}

export interface OverviewUsersTask {
  readonly environment: Environment;
  readonly range: ReportRange;
  readonly features: readonly string[];
}

/** Counts the users of some features of an environment. */
export function* overviewUsersReport(
  store: UsageTables,
  unions: UserUnions,
  { environment, range, features }: OverviewUsersTask,
): Reading<OverviewUsers> {
  const ordinals = new Map(features.map((feature) => [feature, [] as number[]]));
  yield* pickSeries(store, environment.number, (name, ordinal) => {
    if (name.length === 2) ordinals.get(name[0])?.push(ordinal);
  });
  const groups = features.map((feature) => ordinals.get(feature)!);
  const days = yield* findUserDays(unions, environment.number, range);
  const users = yield* countUniqueUsers(unions, environment.number, days, groups);
  return {
    ...daysText(days),
    features: features.map((feature, index) => ({ feature, users: users.groups[index] ?? 0 })),
  };
}
