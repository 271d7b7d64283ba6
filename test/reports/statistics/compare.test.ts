import { describe, expect, it } from 'vitest';
import { compare, needed, usualBase, type Variant } from '../../../src/reports/statistics/compare.ts';
import type { Day } from '../../../src/reports/statistics/difference.ts';
import { createDraws } from './draws.ts';
import { type Experiment, run } from './experiment.ts';

/** Returns two weeks of a variant, with checks only on the first `given` days. Days differ slightly. */
function createVariant(variant: string, events: number, users = 1000, given = 14): Variant {
  const shift = variant.length % 3;
  const day = (_: unknown, index: number): Day =>
    index < given ? { checks: 1000, events: events && events + ((index + shift) % 3) } : { checks: 0, events: 0 };
  return { variant, users, days: Array.from({ length: 14 }, day) };
}

describe('compare', () => {
  it('usualBase chooses a variant with a name such as off or control, or else the first variant by name', () => {
    expect(usualBase(['on', 'off', 'beta'])).toBe('off');
    expect(usualBase(['a', 'off', 'Control'])).toBe('Control');
    expect(usualBase(['true', 'False'])).toBe('False');
    expect(usualBase(['red', 'blue'])).toBe('blue');
    expect(usualBase([])).toBeUndefined();
  });

  it('compare returns no difference for the base', () => {
    const variants = [createVariant('on', 200, 900), createVariant('off', 200, 1100), createVariant('beta', 200, 100)];
    const without = (base: string) => compare(variants, base).map(({ difference }) => difference === null);
    expect(without('off')).toEqual([false, true, false]);
    expect(without('beta')).toEqual([false, false, true]);
  });

  it.each<[string, Variant, number]>([
    ['days', createVariant('b', 200, 5000, needed.days - 1), needed.days - 1],
    ['users', createVariant('b', 200, needed.users - 1), needed.users - 1],
    ['events', createVariant('b', 0), 0],
  ])('compare reports that a variant has too few %s, and returns no p-value', (of, few, has) => {
    const [, compared] = compare([createVariant('a', 200, 5000), few], 'a');
    expect(compared).toMatchObject({ difference: null, interval: null, lack: { of, has } });
  });

  it('compare covers only the days on which both sides have checks', () => {
    const [base, compared] = compare([createVariant('a', 200), createVariant('b', 200, 1000, 9)], 'a');
    expect(compared!.difference!.days).toBe(9);
    expect([base!.checks, compared!.checks]).toEqual([9000, 9000]);
  });

  it('compare covers the same days for all variants, except for a variant that is too new', () => {
    const variants = [createVariant('a', 200), createVariant('b', 200, 1000, 9), createVariant('c', 200, 1000, 3)];
    const [a, b, c] = compare(variants, 'a');
    expect([a!.checks, b!.checks]).toEqual([9000, 9000]);
    expect(c).toMatchObject({ difference: null, lack: { of: 'days', has: 3 } });
  });

  it('compare corrects p-values and intervals for the number of variants', () => {
    const pair = [createVariant('a', 200), createVariant('bb', 205)];
    const [, alone] = compare(pair, 'a');
    const [, among] = compare([...pair, createVariant('cc', 200), createVariant('dd', 200)], 'a');
    const width = ({ difference }: typeof alone & object) => difference!.interval[1] - difference!.interval[0];
    expect(alone!.difference!.pAdjusted).toBe(alone!.difference!.p);
    expect(among!.difference!.p).toBe(alone!.difference!.p);
    expect(among!.difference!.pAdjusted).toBeCloseTo(Math.min(1, alone!.difference!.p * 3), 12);
    expect(width(among!)).toBeGreaterThan(width(alone!));
  });

  it('compare keeps the interval of a share between 0 and 1', () => {
    for (const events of [1, 500, 997]) {
      const [compared] = compare([createVariant('a', events, 100)], 'a');
      const [low, high] = compared!.interval!;
      expect(low).toBeGreaterThanOrEqual(0);
      expect(low).toBeLessThanOrEqual(compared!.rate!);
      expect(high).toBeGreaterThanOrEqual(compared!.rate!);
      expect(high).toBeLessThanOrEqual(1);
    }
  });
});

/** People who return and have individual habits. The days have different rates. */
const usual: Experiment = {
  days: 10,
  people: [130, 130],
  rates: [0.2, 0.2],
  alike: 0.2,
  spread: 1,
  comes: 0.4,
  dayEffect: 0.3,
};

/** Returns the rate at which a difference is found, and the rate at which the intervals contain the true difference. */
function experiments(experiment: Experiment, count: number, seed: number) {
  const draws = createDraws(seed);
  const differences = Array.from({ length: count }, () =>
    compare(run(experiment, draws), 'v0')
      .slice(1)
      .map(({ difference }) => difference),
  );
  const judged = differences.filter((each) => each.every((difference) => difference !== null));
  expect(judged.length).toBeGreaterThan(count * 0.95);
  const share = (is: (each: (typeof judged)[number]) => boolean) => judged.filter(is).length / judged.length;
  const trueEffect = (index: number) => experiment.rates[index + 1]! - experiment.rates[0]!;
  return {
    found: share((each) => each.some((difference) => difference!.pAdjusted < 0.05)),
    covered: share((each) =>
      each.every((difference, index) => {
        const [low, high] = difference!.interval;
        return low <= trueEffect(index) && trueEffect(index) <= high;
      }),
    ),
  };
}

describe('compare in simulated experiments', () => {
  it.each<[string, Experiment, number]>([
    ['people with habits who return', usual, 2000],
    ['a few people with most of the checks', { ...usual, spread: 1.5 }, 250],
    ['people whose rate is nearly 0 or nearly 1', { ...usual, alike: 0.5 }, 250],
    ['people who return every day', { ...usual, comes: 1 }, 150],
    ['people who come once', { ...usual, alike: 0, comes: 0.15, people: [250, 250] }, 250],
    ['rare events', { ...usual, rates: [0.03, 0.03] }, 250],
    ['a rollout', { ...usual, comes: 1, people: [140, 300], rollout: [false, true] }, 150],
    ['four variants', { ...usual, people: [130, 130, 130, 130], rates: [0.2, 0.2, 0.2, 0.2] }, 250],
    ['a week of very different days', { ...usual, days: 7, dayEffect: 1 }, 250],
  ])('compare rarely reports an effect in simulated experiments without an effect: %s', (_, experiment, count) => {
    const { found, covered } = experiments(experiment, count, 20);
    expect(found).toBeLessThanOrEqual(0.05);
    expect(covered).toBeGreaterThanOrEqual(0.93);
  });

  it('compare finds a real effect, and the interval contains its size', () => {
    const effect = { ...usual, alike: 0.1, dayEffect: 0.1, people: [800, 800], rates: [0.2, 0.3] };
    const { found, covered } = experiments(effect, 150, 21);
    expect(found).toBeGreaterThanOrEqual(0.8);
    expect(covered).toBeGreaterThanOrEqual(0.93);
  });
});
