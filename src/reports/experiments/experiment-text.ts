import { plannedDays } from '../../accounts/experiments.ts';
import type { ExperimentFigures } from '../../contract/shapes/experiment-figures.ts';
import type { Experiment, GuardrailMetric, PlannedMetric } from '../../storage/lmdb/records.ts';
import type { VariantComparison } from '../statistics/compare.ts';
import { inconclusive, missing, points } from './comparison-text.ts';
import { dayText } from './split-text.ts';

const dayMs = 86_400_000;
/** // The first `Intl.NumberFormat` takes milliseconds to create. */
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

type OutcomeText = readonly [outcome: ExperimentFigures['outcome'], text: string];

interface Context {
  readonly guardrails: readonly { readonly state: 'ok' | 'worse' | 'unclear'; readonly text: string }[];
  readonly split: 'ok' | 'off' | 'unknown';
}

/** Describes the result of an experiment that is over. A mismatched split makes the result untrustworthy. */
export function judgeExperiment(
  experiment: Pick<Experiment, 'base' | keyof PlannedMetric>,
  compared: readonly VariantComparison[],
  { guardrails, split }: Context,
): OutcomeText {
  if (split === 'off')
    return [
      'untrustworthy',
      'Not trustworthy: the actual split differs from the intended one. Find the reason, and repeat the experiment.',
    ];
  const [outcome, text] = differenceIn(experiment, compared);
  const worse = guardrails.filter(({ state }) => state === 'worse').map((each) => each.text);
  return [outcome, [text, ...worse].join(' ')];
}

type WithDifference = VariantComparison & { readonly difference: NonNullable<VariantComparison['difference']> };

function differenceIn(
  { base, metric, direction }: Pick<Experiment, 'base' | keyof PlannedMetric>,
  compared: readonly VariantComparison[],
): OutcomeText {
  const found = compared.filter((each): each is WithDifference => each.difference !== null);
  if (found.length === 0) {
    const [lack] = compared.flatMap((each) => each.lack ?? []);
    return ['not_enough', lack === undefined ? `Not enough data: only one variant was served.` : missing(lack, base)];
  }
  const sign = direction === 'up' ? 1 : -1;
  const by = (is: (low: number, high: number) => boolean) =>
    found
      .filter(({ difference: { interval } }) => is(interval[0] * sign, interval[1] * sign))
      .toSorted((a, b) => Math.abs(b.difference.estimate) - Math.abs(a.difference.estimate))[0];
  const better = by((low, high) => Math.min(low, high) > 0);
  if (better) return ['better', `Better with ${sentence(better, base, metric)}.`];
  const worse = by((low, high) => Math.max(low, high) < 0);
  if (worse) return ['worse', `Worse with ${sentence(worse, base, metric)}.`];
  return [
    'inconclusive',
    inconclusive(
      found.map(({ difference }) => difference.interval),
      shownBy(metric),
    ),
  ];
}

/** Formats a difference: `on: used per check is 4.0 percentage points higher than with off (3.1 to 4.9)`. */
function sentence({ variant, difference: { estimate, interval } }: WithDifference, base: string, metric: string) {
  const show = shownBy(metric);
  const [low, high] = estimate > 0 ? interval : [-interval[1], -interval[0]];
  return `${variant}: ${metric} per check is ${show(Math.abs(estimate))} ${
    estimate > 0 ? 'higher' : 'lower'
  } than with ${base} (${bare(show(low))} to ${bare(show(high))})`;
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
  compared: readonly VariantComparison[],
  { isFinal }: { readonly isFinal: boolean },
) {
  const found = compared.filter((each): each is WithDifference => each.difference !== null);
  const show = shownBy(metric);
  /** Returns the interval of the worsening that a variant causes: its minimum and its maximum. */
  const worsening = ({ difference: { interval } }: WithDifference): readonly [number, number] =>
    direction === 'up' ? [-interval[1], -interval[0]] : interval;
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
  return { metric, state, text, variants: compared } as const;
}
