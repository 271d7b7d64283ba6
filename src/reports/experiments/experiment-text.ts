import type { Accounts } from '../../accounts/accounts.ts';
import { listExperiments, plannedDays } from '../../accounts/experiments.ts';
import type { ExperimentDecision } from '../../contract/experiment-state.ts';
import { doneMs } from '../../contract/health.ts';
import type { ExperimentFigures } from '../../contract/shapes/experiment-figures.ts';
import type { Application, Experiment, GuardrailMetric, PlannedMetric } from '../../storage/lmdb/records.ts';
import type { ExperimentConclusion } from '../../webhooks/findings.ts';
import type { Lack } from '../statistics/compare.ts';
import { missing, points } from './comparison-text.ts';
import { dayText } from './split-text.ts';

const dayMs = 86_400_000;
/** Formats without a shared `Intl.NumberFormat`, because creating the first one takes milliseconds. */
const whole = (value: number) => value.toLocaleString('en');
const size = (value: number) => value.toLocaleString('en', { maximumSignificantDigits: 2 });

/** Returns a function that formats a difference of a metric. */
function shownBy(metric: string): (size: number) => string {
  return metric === 'used' || metric === 'viewed' ? points : size;
}

interface Progress {
  readonly now: number;
  /** Number of users of the variant with the fewest users; `undefined` if they were not counted. */
  readonly users: number | undefined;
}

/** Describes the progress of an experiment: `day 5 of 14`, `61 % of 4 000 users per variant`. */
export function progressText(experiment: Experiment, { now, users }: Progress): string {
  const { from, to } = plannedDays(experiment);
  if (now < experiment.startAt) return `starts on ${dayText(experiment.startAt, now)}`;
  const day = Math.max(1, Math.floor(now / dayMs) - from + 1);
  const ofDays = to === null ? `day ${day}` : day > to - from ? 'the last day is over' : `day ${day} of ${to - from}`;
  if (experiment.users === null || users === undefined) return ofDays;
  const part = Math.min(100, Math.floor((100 * users) / experiment.users));
  return `${ofDays}, ${part}% of ${whole(experiment.users)} users per variant`;
}

interface Frozen extends Pick<ExperimentFigures, 'days' | 'split' | 'variants'> {
  readonly guardrails: readonly Pick<ExperimentFigures['guardrails'][number], 'metric' | 'state'>[];
}

/** Returns the outcome of an experiment that is over: `untrustworthy` if the split does not match the plan. */
export function judgeExperiment(
  { direction }: Pick<Experiment, 'direction'>,
  { split, variants }: Pick<Frozen, 'split' | 'variants'>,
): ExperimentFigures['outcome'] {
  if (split === 'off') return 'untrustworthy';
  const found = variants.flatMap(({ difference }) => difference ?? []);
  if (found.length === 0) return 'not_enough';
  const sign = direction === 'up' ? 1 : -1;
  if (found.some(({ interval: [low, high] }) => Math.min(low * sign, high * sign) > 0)) return 'better';
  return found.some(({ interval: [low, high] }) => Math.max(low * sign, high * sign) < 0) ? 'worse' : 'inconclusive';
}

/**
 * Describes the result of an experiment, and what it allows: `Better by 4.0 points with on (3.1 to 4.9), 28 days;
 * guardrail viewed unclear: do not ship yet`. The list, the page, webhooks and the command line show this sentence.
 * @param lack the data that a variant lacks, if the outcome is `not_enough`
 */
export function describeConclusion(
  plan: Pick<Experiment, 'base' | keyof PlannedMetric>,
  figures: Frozen,
  lack?: Lack,
): string {
  const { base, metric } = plan;
  const outcome = judgeExperiment(plan, figures);
  const days = `${figures.days} ${figures.days === 1 ? 'day' : 'days'}`;
  switch (outcome) {
    case 'untrustworthy':
      return 'Not trustworthy: the actual split differs from the intended one. Find the reason, and repeat the experiment';
    case 'not_enough':
      return lack === undefined ? 'Not enough data: only one variant was served' : missing(lack, base).slice(0, -1);
    case 'better':
    case 'worse': {
      const { variant, difference } = findLargest(plan, figures.variants, outcome);
      const effect = `${sizeText(metric, Math.abs(difference.estimate))} with ${variant} (${intervalText(metric, difference)}), ${days}`;
      if (outcome === 'worse') return `Worse by ${effect}: keep ${base}`;
      return `Better by ${effect}${guardrailsText(figures.guardrails)}: ${shipping[decide(figures, outcome)]}`;
    }
    default: {
      const ends = figures.variants.flatMap(({ difference }) => difference?.interval ?? []);
      const most = Math.max(...ends.map(Math.abs));
      return `Inconclusive: at most ${sizeText(metric, most)} of difference, ${days}; keep ${base}, or repeat with more users`;
    }
  }
}

/** Returns the frozen figures, with a sentence in the current wording in place of the stored sentence. */
export function showFrozen(experiment: Experiment): ExperimentFigures | undefined {
  const figures = experiment.result?.figures;
  const isClear = figures && ['better', 'worse', 'inconclusive'].includes(figures.outcome);
  return isClear ? { ...figures, text: describeConclusion(experiment, figures) } : figures;
}

/** Lists the results of experiments that finished recently and as planned. */
export function listConclusions(
  accounts: Accounts,
  { id, environments }: Pick<Application, 'id' | 'environments'>,
  now: number,
): readonly ExperimentConclusion[] {
  return listExperiments(accounts, id).flatMap(({ experiment }) => {
    const { stopped, result, id, name } = experiment;
    const figures = showFrozen(experiment);
    if (stopped || result === undefined || figures === undefined || now - result.at >= doneMs) return [];
    const environment = environments.find(({ number }) => number === experiment.environment)?.name ?? null;
    const { outcome, text } = figures;
    return [{ id, name, environment, at: result.at, outcome, decision: decide(figures, outcome), text }];
  });
}

type Compared = ExperimentFigures['variants'][number];
type WithDifference<T extends Pick<Compared, 'difference'>> = T & { readonly difference: NonNullable<T['difference']> };

function hasDifference<T extends Pick<Compared, 'difference'>>(each: T): each is WithDifference<T> {
  return each.difference !== null;
}

/** Returns the variant with the largest clear difference in the direction of the outcome. */
function findLargest(
  { direction }: Pick<Experiment, 'direction'>,
  variants: readonly Compared[],
  outcome: 'better' | 'worse',
): WithDifference<Compared> {
  const sign = (direction === 'up') === (outcome === 'better') ? 1 : -1;
  return variants
    .filter(hasDifference)
    .filter(({ difference: { interval } }) => Math.min(interval[0] * sign, interval[1] * sign) > 0)
    .toSorted((a, b) => Math.abs(b.difference.estimate) - Math.abs(a.difference.estimate))[0]!;
}

const shipping: Readonly<Partial<Record<ExperimentDecision, string>>> = {
  ship: 'ship',
  wait: 'do not ship yet',
  do_not_ship: 'do not ship',
};

/** Returns the decision that a result allows. A worse or unclear guardrail forbids shipping a better variant. */
export function decide(
  { guardrails }: Pick<Frozen, 'guardrails'>,
  outcome: ExperimentFigures['outcome'],
): ExperimentDecision {
  if (outcome === 'worse') return 'keep_base';
  if (outcome !== 'better') return 'repeat';
  if (guardrails.some(({ state }) => state === 'worse')) return 'do_not_ship';
  return guardrails.every(({ state }) => state === 'ok') ? 'ship' : 'wait';
}

function guardrailsText(guardrails: Frozen['guardrails']): string {
  const open = guardrails.filter(({ state }) => state !== 'ok');
  return open.length === 0 ? '' : `; ${open.map(({ metric, state }) => `guardrail ${metric} ${state}`).join(', ')}`;
}

type Difference = WithDifference<Compared>['difference'];

function sizeText(metric: string, size: number): string {
  return shownBy(metric)(size).replace('percentage points', 'points');
}

/** Formats the interval of the size of a difference, without its unit. */
function intervalText(metric: string, { estimate, interval }: Difference): string {
  const show = shownBy(metric);
  const [low, high] = estimate > 0 ? interval : [-interval[1], -interval[0]];
  return `${bare(show(low))} to ${bare(show(high))}`;
}

/** Formats a difference: `on: used per check is 4.0 percentage points higher than with off (3.1 to 4.9)`. */
function sentence({ variant, difference }: WithDifference<Compared>, base: string, metric: string) {
  const side = difference.estimate > 0 ? 'higher' : 'lower';
  const size = shownBy(metric)(Math.abs(difference.estimate));
  return `${variant}: ${metric} per check is ${size} ${side} than with ${base} (${intervalText(metric, difference)})`;
}

/** Removes the unit from a formatted size. */
function bare(text: string): string {
  return text.replace(' percentage points', '');
}

/**
 * Returns the state of a guardrail: `worse` if a whole interval is beyond the tolerated worsening, and `ok` if no
 * interval reaches it.
 */
export function checkGuardrail(
  { metric, direction, tolerated }: GuardrailMetric,
  base: string,
  variants: Compared[],
  { isFinal }: { readonly isFinal: boolean },
): ExperimentFigures['guardrails'][number] {
  const found = variants.filter(hasDifference);
  const show = shownBy(metric);
  /** Returns the interval of the worsening that a variant causes: its minimum and its maximum. */
  const worsening = ({ difference: { interval } }: WithDifference<Compared>): readonly [number, number] =>
    direction === 'up' ? [-interval[1], -interval[0]] : [interval[0], interval[1]];
  const worse = found.find((each) => worsening(each)[0] > tolerated);
  const isOk = found.length > 0 && found.every((each) => worsening(each)[1] <= tolerated);
  const state = worse !== undefined ? 'worse' : isOk ? 'ok' : 'unclear';
  const limit = tolerated === 0 ? '' : `, and a worsening of ${bare(show(tolerated))} is tolerated`;
  const text = {
    worse: worse && `Guardrail ${metric} is worse with ${sentence(worse, base, metric)}${limit}.`,
    ok: `Guardrail ${metric} is not worse by more than ${show(tolerated)}.`,
    unclear:
      found.length === 0
        ? `Guardrail ${metric}: not enough data.`
        : `Guardrail ${metric} is unclear: worse by up to ${show(Math.max(0, ...found.map((each) => worsening(each)[1])))}${isFinal ? '' : ' so far'}.`,
  }[state]!;
  return { metric, state, text, variants };
}
