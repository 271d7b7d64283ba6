import { computePhase, mostDays, plannedDays } from '../../accounts/experiments.ts';
import type { ExperimentResult } from '../../contract/shapes/experiment.ts';
import type { ExperimentFigures, MeasuredVariant } from '../../contract/shapes/experiment-figures.ts';
import { timeText } from '../../runtime/rfc3339.ts';
import { sketchError } from '../../storage/aggregate/hyperloglog.ts';
import type { Days, UserUnions } from '../../storage/aggregate/unique-users.ts';
import type { Environment, Experiment, PlannedMetric, Weight } from '../../storage/lmdb/records.ts';
import type { Reading } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import { alpha, commonDays, compare, type VariantComparison } from '../statistics/compare.ts';
import { detectable } from '../statistics/power.ts';
import { sequentialInterval } from '../statistics/sequential.ts';
import { checkUsers, type MeasuredSplit } from '../statistics/split.ts';
import { daysText } from '../usage/report-range.ts';
import { createSide, type ExperimentCounts, readVariants, type VariantDays } from './experiment-counts.ts';
import { checkGuardrail, describeConclusion, judgeExperiment, progressText, showFrozen } from './experiment-text.ts';
import { computeTraffic } from './power-report.ts';

export interface ExperimentTask {
  readonly environment: Pick<Environment, 'number'>;
  readonly feature: string;
  readonly experiment: Experiment;
  /** The intended weights. */
  readonly split: readonly Weight[] | null;
  /** See `VariantDays`. */
  readonly amounts: readonly string[];
  /** Unix ms. */
  readonly now: number;
  /** Reason for freezing the result; `undefined` while the experiment is running. */
  readonly ending?: 'met' | 'stopped';
}

/** The result of an experiment, and its progress. */
export interface ExperimentReport {
  readonly result: ExperimentResult;
  /** Number of users of the planned variant with the fewest users. */
  readonly users: number;
  /** True if the experiment has reached its planned end, so that the result can be frozen. */
  readonly isMet: boolean;
}

const dayMs = 86_400_000;

/** Time to wait for late reports of the last day. */
const settledMs = 15 * 60_000;

/** Returns the complete UTC days in the past, or the days that were complete when the result was frozen. */
function findDays({ experiment, now }: ExperimentTask): Days {
  const { from, to } = plannedDays(experiment);
  const { result } = experiment;
  const at = result === undefined ? now : Date.parse(result.figures.at);
  const end = Math.min(to ?? from + mostDays, Math.floor(at / dayMs));
  return { from, to: Math.max(from, end) };
}

/** Computes the result of an experiment from its counts. */
export function* experimentReport(
  store: UsageTables,
  unions: UserUnions,
  task: ExperimentTask,
): Reading<ExperimentReport> {
  const { environment, feature, experiment, split, amounts, now } = task;
  const days = findDays(task);
  const named = [experiment, ...experiment.guardrails].map(({ metric }) => metric);
  const metrics = named.filter((metric) => metric !== 'used' && metric !== 'viewed');
  const counts = yield* readVariants(store, unions, environment.number, { feature, days, metrics, amounts });
  const measured = measureSplit(counts, split);
  const users = fewestUsers(counts, experiment, split);
  const isMet = isPlanMet(task, days, users);
  const phase = computePhase(experiment, now);
  const isFinal = task.ending === 'stopped' || (task.ending === 'met' && isMet);
  const figures = computeFigures(task, counts, { days, isMet, isFinal, users, split: measured.state });
  const daily = counts.variants.map((each) => ({
    variant: each.variant,
    values: createSide(each, experiment.metric).days.map(({ events, checks }) =>
      checks === 0 ? null : events / checks,
    ),
  }));
  const frozen = showFrozen(experiment);
  const result = { state: phase, frozen: frozen !== undefined, ...(frozen ?? figures), daily };
  return { result, users, isMet };
}

/** Compares the users of each variant with the intended split. */
function measureSplit({ variants }: ExperimentCounts, split: ExperimentTask['split']): MeasuredSplit {
  const weights = new Map(split ?? []);
  const names = [...new Set([...weights.keys(), ...variants.map(({ variant }) => variant)])];
  const sides = names.map((variant) => ({
    variant,
    weight: weights.get(variant) ?? 0,
    users: variants.find((each) => each.variant === variant)?.users ?? 0,
  }));
  if (split === null) return { intended: {}, actual: null, p: null, state: 'unknown' };
  return checkUsers(sides, sketchError);
}

function fewestUsers({ variants }: ExperimentCounts, { base }: Experiment, split: ExperimentTask['split']): number {
  const wanted = split?.map(([variant]) => variant) ?? [base, ...variants.map(({ variant }) => variant)];
  const countUsers = (name: string) => variants.find(({ variant }) => variant === name)?.users ?? 0;
  return Math.min(...wanted.map(countUsers));
}

/**
 * True if the planned days are over, or if each variant has reached the planned number of users after a week. Waits for
 * late reports.
 */
function isPlanMet({ experiment, now }: ExperimentTask, days: Days, users: number): boolean {
  if (experiment.stopped !== undefined || experiment.result !== undefined) return false;
  const end = plannedDays(experiment).to ?? days.from + mostDays;
  if (now >= end * dayMs + settledMs) return true;
  const isSettled = now >= days.to * dayMs + settledMs;
  return experiment.users !== null && users >= experiment.users && days.to - days.from >= 7 && isSettled;
}

interface State {
  readonly days: Days;
  readonly isMet: boolean;
  readonly isFinal: boolean;
  readonly users: number;
  readonly split: MeasuredSplit['state'];
}

function computeFigures(task: ExperimentTask, counts: ExperimentCounts, state: State): ExperimentFigures {
  const { experiment, now } = task;
  const { days, isMet, isFinal, users, split } = state;
  // The planned end is a date that does not depend on the counts, so the usual interval is valid.
  const isFixed = isFinal && isMet && experiment.users === null;
  const intervalAt = isFixed ? undefined : sequentialAt(task, days, users);
  const compared = (metric: PlannedMetric) => {
    const sides = counts.variants.map((each) => createSide(each, metric.metric));
    return baseFirst(compare(sides, experiment.base, intervalAt), experiment.base);
  };
  const primary = compared(experiment);
  const variants = primary.map(show);
  const period = findPeriod(counts.variants, experiment.base, days);
  const guardrails = experiment.guardrails.map((each) =>
    checkGuardrail(each, experiment.base, compared(each).map(show), { isFinal }),
  );
  const frozen = { days: period.length, variants, guardrails, split };
  const [lack] = primary.flatMap((each) => each.lack ?? []);
  return {
    at: timeText(now),
    ...(period.length === 0 ? { from: null, to: null } : daysText(days)),
    method: isFixed ? 'fixed_horizon' : 'always_valid',
    outcome: isFinal ? judgeExperiment(experiment, frozen) : 'open',
    text: isFinal ? describeConclusion(experiment, frozen, lack) : progressText(experiment, { now, users }),
    metric: experiment.metric,
    base: experiment.base,
    ...frozen,
    detectable: detectableAtEnd(task, counts, days),
  };
}

/** Computes the sequential interval. Progress is the share of the planned days, or of the planned users. */
function sequentialAt({ experiment }: ExperimentTask, days: Days, users: number) {
  const { from, to } = plannedDays(experiment);
  const part = to === null ? users / (experiment.users ?? 1) : (days.to - from) / (to - from);
  const progress = Math.max(0.01, part);
  return (estimate: Parameters<typeof sequentialInterval>[0], level: number) =>
    sequentialInterval(estimate, level, progress);
}

function baseFirst(compared: readonly VariantComparison[], base: string): readonly VariantComparison[] {
  const rank = ({ variant }: VariantComparison) => (variant === base ? 0 : 1);
  return compared.toSorted((a, b) => rank(a) - rank(b) || (a.variant < b.variant ? -1 : 1));
}

function findPeriod(variants: readonly VariantDays[], base: string, { from, to }: Days): readonly number[] {
  if (from === to) return [];
  return commonDays(
    variants.map((each) => createSide(each, 'used')),
    base,
  );
}

function show({ variant, users, checks, rate, difference }: VariantComparison): MeasuredVariant {
  return {
    variant,
    users: Math.round(users),
    checks,
    value: rate,
    difference: difference && { estimate: difference.estimate, interval: [...difference.interval] },
  };
}

/**
 * Returns the difference that is detectable at the planned end with the current traffic; `null` if no difference is
 * detectable.
 */
function detectableAtEnd({ experiment }: ExperimentTask, counts: ExperimentCounts, { from, to }: Days): number | null {
  const end = plannedDays(experiment).to;
  const others = counts.variants.filter(({ variant }) => variant !== experiment.base).length;
  if (end === null || to === from || others === 0) return null;
  const traffic = computeTraffic(counts, experiment.metric, [[to - from, counts.users]]);
  if (traffic === undefined) return null;
  const found = detectable({ ...traffic, shares: computeShares(counts, experiment.base) }, end - from, alpha / others);
  return Number.isFinite(found) ? found : null;
}

/** Returns the shares of the base and of the smallest other variant. */
function computeShares({ variants }: ExperimentCounts, base: string): readonly [number, number] {
  const all = variants.reduce((sum, { users }) => sum + users, 0);
  const own = variants.find(({ variant }) => variant === base)?.users ?? 0;
  const others = variants.filter(({ variant }) => variant !== base).map(({ users }) => users);
  return [own / all, Math.min(...others) / all];
}
