import { describe, expect, it } from 'vitest';
import { formatExperimentState } from '../../src/contract/experiment-state.ts';
import { exampleFigures } from '../../src/contract/shapes/experiment-figures.ts';
import {
  decide,
  describeConclusion,
  judgeExperiment,
  showFrozen,
} from '../../src/reports/experiments/experiment-text.ts';
import type { Experiment } from '../../src/storage/lmdb/records.ts';

const plan = { base: 'off', metric: 'used', direction: 'up' } as const;

/** Returns the figures of two variants. @param interval the difference of `on` from `off`, of which the middle is the estimate */
function figures(
  interval: readonly [low: number, high: number] | null,
  guardrails: Readonly<Record<string, 'ok' | 'worse' | 'unclear'>> = {},
) {
  const counts = { users: 5000, checks: 60_000, value: 0.2 };
  const difference = interval && {
    estimate: (interval[0] + interval[1]) / 2,
    interval: [interval[0], interval[1]] as [number, number],
  };
  return {
    days: 28,
    split: 'ok' as const,
    variants: [
      { variant: 'off', ...counts, difference: null },
      { variant: 'on', ...counts, difference },
    ],
    guardrails: Object.entries(guardrails).map(([metric, state]) => ({ metric, state })),
  };
}

describe('the conclusion of an experiment', () => {
  it.each([
    [
      'a better result',
      plan,
      figures([0.031, 0.049]),
      'Better by 4.0 points with on (3.1 to 4.9), 28 days: ship',
      'better: ship',
    ],
    [
      'a better result with an unclear guardrail',
      plan,
      figures([0.031, 0.049], { viewed: 'unclear', orders: 'ok' }),
      'Better by 4.0 points with on (3.1 to 4.9), 28 days; guardrail viewed unclear: do not ship yet',
      'better: do not ship yet',
    ],
    [
      'a better result with a worse guardrail',
      plan,
      figures([0.031, 0.049], { viewed: 'worse', orders: 'unclear' }),
      'Better by 4.0 points with on (3.1 to 4.9), 28 days; guardrail viewed worse, guardrail orders unclear: do not ship',
      'better: do not ship',
    ],
    [
      'a worse result',
      plan,
      figures([-0.03, -0.01]),
      'Worse by 2.0 points with on (1.0 to 3.0), 28 days: keep off',
      'worse',
    ],
    [
      'a lower metric that should be low',
      { ...plan, metric: 'errors', direction: 'down' as const },
      figures([-3, -1]),
      'Better by 2 with on (1 to 3), 28 days: ship',
      'better: ship',
    ],
    [
      'an interval around 0',
      plan,
      figures([-0.01, 0.073]),
      'Inconclusive: at most 7.3 points of difference, 28 days; keep off, or repeat with more users',
      'inconclusive',
    ],
    ['a missing difference', plan, figures(null), 'Not enough data: only one variant was served', 'not enough data'],
    [
      'users who are not split as intended',
      plan,
      { ...figures([0.031, 0.049]), split: 'off' as const },
      'Not trustworthy: the actual split differs from the intended one. Find the reason, and repeat the experiment',
      'not trustworthy',
    ],
  ])('the sentence and the label state the same decision: %s', (_, plan, figures, sentence, label) => {
    expect(describeConclusion(plan, figures)).toBe(sentence);
    const outcome = judgeExperiment(plan, figures);
    const shown = { state: 'finished', outcome, decision: decide(figures, outcome) } as const;
    expect(formatExperimentState(shown)).toBe(label);
  });

  it('a result that an earlier version froze gets the sentence of the current version', () => {
    const stored = { ...exampleFigures, text: 'Better with on: used per check is 4.0 percentage points higher.' };
    const experiment = { ...plan, result: { at: 0, figures: stored } } as unknown as Experiment;
    expect(showFrozen(experiment)).toEqual(exampleFigures);
  });
});
