import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { drawSpark } from '../../src/console/components/chart/sparkline.tsx';
import { areUsersCounted, computeChange, createChart, usersLabel } from '../../src/console/pages/overview/figures.ts';
import { filterRows, holdOrder } from '../../src/console/pages/overview/rows.ts';
import {
  countStates,
  explainState,
  getShownState,
  meantBy,
  stateText,
} from '../../src/console/pages/overview/states.ts';
import { weightsText } from '../../src/contract/numbers.ts';
import type { Overview, OverviewFeature } from '../../src/contract/shapes/overview.ts';

const row = (feature: string, more: Partial<OverviewFeature> = {}): OverviewFeature => ({
  feature,
  checks: 10,
  used: 4,
  viewed: 3,
  spark: [1, 2],
  variants: [['on', 10]],
  firstSeenAt: null,
  lastSeenAt: null,
  declared: true,
  archived: false,
  permanent: false,
  snoozedUntil: null,
  owners: [],
  ownersFrom: null,
  tags: [],
  verdict: 'in_use',
  ...more,
});

const days = { staleAfterDays: 30 };

describe('the change of a figure', () => {
  test.each([
    ['rises', 103, 100, { direction: 'up', size: '3%' }],
    ['falls', 40, 100, { direction: 'down', size: '60%' }],
    ['falls to 0', 0, 100, { direction: 'down', size: '100%' }],
    ['stays equal', 100, 100, { direction: 'same', size: '0%' }],
    ['changes too little to show', 100_001, 100_000, { direction: 'same', size: '0%' }],
    ['grows twelvefold', 1200, 100, { direction: 'up', size: '×12' }],
    ['rises from 0', 5, 0, undefined],
    ['has no previous figure', 5, undefined, undefined],
  ])('computeChange returns $3 for a figure that %s', (_, now, before, change) => {
    expect(computeChange(now, before)).toEqual(change);
  });
});

test('the head of the column of users names the days whose users are counted', () => {
  const users = { from: '2026-10-14', to: '2026-10-14', count: 0 };
  expect(usersLabel({ users } as unknown as Overview)).toMatch(/^People \((14 Oct|Oct 14)\)$/);
});

describe('a sparkline', () => {
  test('a sparkline ends with a dashed part for the incomplete last bucket', () => {
    expect(drawSpark([0, 10, 5])).toEqual({ path: 'M0 22L50 2', soFar: 'M50 2L100 12' });
  });

  test('the line of a sparkline stays within its box', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 30 }), (values) => {
        const { path, soFar } = drawSpark(values);
        const points = [...`${path}${soFar}`.matchAll(/([\d.-]+) ([\d.-]+)/g)];
        for (const [, x, y] of points) {
          expect(Number(x)).toBeGreaterThanOrEqual(0);
          expect(Number(x)).toBeLessThanOrEqual(100);
          expect(Number(y)).toBeGreaterThanOrEqual(0);
          expect(Number(y)).toBeLessThanOrEqual(24);
        }
      }),
    );
  });
});

describe('flags', () => {
  const rows = [
    row('checkout'),
    row('Checkout-express', { declared: false }),
    row('old-banner', { verdict: 'safe_to_remove' }),
    row('__other__', { declared: false }),
  ];

  test.each([
    ['', undefined, ['checkout', 'Checkout-express', 'old-banner', '__other__']],
    ['CHECK', undefined, ['checkout', 'Checkout-express']],
    [' express  check ', undefined, ['Checkout-express']],
    ['', 'safe_to_remove', ['old-banner']],
    ['', 'undeclared', ['Checkout-express']],
    ['banner', 'undeclared', []],
  ] as const)('the search "%s" with the state %s finds the flags %j', (search, state, found) => {
    expect(filterRows(rows, { search, state }).map(({ feature }) => feature)).toEqual(found);
  });

  test('each flag counts in one state, and the filter for a state shows as many flags as the count', () => {
    for (const [state, count] of countStates(rows)) expect(count).toBe(filterRows(rows, { search: '', state }).length);
    expect([...countStates(rows).values()].reduce((sum, count) => sum + count, 0)).toBe(rows.length);
    expect(countStates(rows).get('undeclared')).toBe(1);
  });

  test('the table shows the state of each flag', () => {
    expect(stateText(row('a', { verdict: 'one_variant' }))).toBe('remove: one variant only');
    expect(explainState(row('a', { verdict: 'not_seen' }), days)).toMatch(/^Silence is the only evidence/);
  });

  test('the table explains why a flag is in use, even if the range shows only one variant', () => {
    const used = row('a', { variants: [['on', 10]], recentVariants: 2 });
    expect([stateText(used), getShownState(used)]).toEqual(['keep: in use, 2 variants', 'in_use']);
    expect(explainState(used, days)).toBe('In use: 2 variants within 30 days');
    expect(stateText(row('a', { recentVariants: 1 }))).toBe('keep: in use');
  });

  test('the table shows a misspelt flag as undeclared, although the flag is in use', () => {
    const misspelt = row('chekcout', { verdict: 'in_use', declared: false });
    const meant = meantBy([row('checkout'), misspelt]);
    expect([stateText(misspelt), getShownState(misspelt)]).toEqual(['fix: unknown flag', 'undeclared']);
    expect(stateText(misspelt, meant(misspelt))).toBe('fix: unknown flag – did you mean checkout?');
    expect(explainState(misspelt, days)).toMatch(/^Not declared, so the name might be misspelt/);
    expect(meant(row('checkout'))).toBeUndefined();
  });

  test.each(['safe_to_remove', 'one_variant', 'in_use', 'not_seen'] as const)(
    'an archived flag with the verdict %s does not need attention',
    (verdict) => {
      const archived = row('a', { verdict, archived: true });
      expect([stateText(archived), getShownState(archived)]).toEqual(['archived', 'archived']);
      expect([...countStates([archived])].filter(([, count]) => count > 0)).toEqual([['archived', 1]]);
      expect(explainState(archived, days)).toMatch(/^Archived/);
    },
  );

  test('an archived flag that programs still check needs attention', () => {
    const asked = row('a', { verdict: 'archived_but_asked', archived: true });
    expect(stateText(asked)).toBe('fix: archived, but still checked');
    expect([...countStates([asked])].filter(([, count]) => count > 0)).toEqual([['archived_but_asked', 1]]);
  });

  test('flags keep their order while the pointer hovers over one of them', () => {
    const sorted = [row('new'), row('b'), row('a')];
    expect(holdOrder(sorted, ({ feature }) => feature, ['a', 'gone', 'b']).map(({ feature }) => feature)).toEqual([
      'a',
      'b',
      'new',
    ]);
  });

  test('the table lists the variants of a flag with their shares', () => {
    const percent = (share: number) => `${Math.round(share * 100)}%`;
    const variants = [
      ['on', 3],
      ['off', 1],
    ] as const;
    expect(weightsText(variants, percent)).toBe('on 75%, off 25%');
  });
});

describe('the chart', () => {
  const hour = 3600;
  const day = 86_400;
  const start = Date.UTC(2026, 10, 19) / 1000;
  const overview = {
    at: new Date((start + day + 5 * hour + 60) * 1000).toISOString(),
    start,
    width: day,
    length: 2,
    series: { checks: [4, 1], used: [2, 1], viewed: [2, 0] },
    hourly: { start, length: 30, accepted: new Array(30).fill(1), refused: new Array(30).fill(2) },
    days: [
      [start, 7],
      [start + day, 3],
    ],
  } as unknown as Overview;

  test.each([
    ['checks', 'Checks', [4, 1]],
    ['users', 'People', [7, 3]],
    ['refused', 'Refused', [48, 12]],
  ] as const)('the overview chart of %s shows one count for each bucket', (figure, title, values) => {
    const drawn = createChart(overview, figure, 'before');
    expect(drawn.title).toBe(title);
    expect(drawn.series.map((each) => each.values)).toEqual([values]);
    expect(drawn.buckets).toMatchObject({ start, width: day, count: 2 });
    expect(drawn.unfinishedFrom).toBe(1);
  });

  test('the chart of the overview draws a line for the compared range', () => {
    const before = { series: { checks: [3, 2], used: [1, 1], viewed: [0, 0] } } as Overview['before'];
    const drawn = createChart({ ...overview, before }, 'checks', 'previous week');
    expect(drawn.series[1]).toMatchObject({ label: 'previous week', values: [3, 2], apart: true });
  });

  test('the chart of the overview draws all buckets of a past range as complete', () => {
    const over = { ...overview, at: new Date((start + 9 * day) * 1000).toISOString() };
    expect(createChart(over, 'checks', 'before').unfinishedFrom).toBeUndefined();
  });

  test('the chart of refusals shows hourly counts if the buckets of the overview are hours', () => {
    const drawn = createChart({ ...overview, width: hour }, 'refused', 'before');
    expect(drawn.buckets).toEqual({ start, width: hour, count: 30 });
  });
});

test('areUsersCounted returns false until the UTC day of the user count has begun', () => {
  // 17:30 UTC is 06:30 on 24 November in Auckland.
  const today = (from: string) =>
    ({ at: '2026-11-23T17:30:00.000Z', users: { from, to: from, count: 0 } }) as unknown as Overview;
  expect(areUsersCounted(today('2026-11-24'))).toBe(false);
  expect(areUsersCounted(today('2026-11-23'))).toBe(true);
});
