import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { selectedAfter } from '../../src/console/components/table/selection.tsx';
import { groupPrograms } from '../../src/console/pages/feature/traffic.ts';
import { acrossEnvironments } from '../../src/console/pages/overview/across.ts';
import { ownerAction, runSteps, tagAction } from '../../src/console/pages/overview/bulk-actions.ts';
import { trendLine } from '../../src/console/pages/overview/trend.tsx';

describe('the trend of a flag', () => {
  const hours6 = { start: 0, width: 21_600, length: 28 };
  const week = { spark: hours6, at: '1970-01-08T12:00:00Z', to: '1970-01-08T00:00:00Z' };

  test('the trend over a week plots 24-hour sums, so that a daily cycle becomes a flat line', () => {
    const spark = Array.from({ length: 28 }, (_, index) => [0, 10, 50, 20][index % 4]!);
    const { values, unfinished, text } = trendLine(spark, week);
    expect(values).toEqual(new Array(25).fill(80));
    expect(unfinished).toBe(false);
    expect(text).toMatch(/^Checks: sum of the preceding 24 hours, every 6 h/);
  });

  test('the trend of a flag omits a sum that includes an incomplete bucket', () => {
    const spark = [...new Array(27).fill(20), 1];
    const { values } = trendLine(spark, { ...week, at: '1970-01-07T20:00:00Z' });
    expect(values).toEqual(new Array(24).fill(80));
  });

  test('the trend of one day, or of buckets of a day, plots the counts without summing them', () => {
    const spark = [1, 2, 3, 4];
    const day = { spark: { start: 0, width: 3600, length: 4 }, at: '1970-01-01T03:30:00Z', to: '1970-01-01T04:00:00Z' };
    const text = 'Checks per hour, with the daily cycle';
    expect(trendLine(spark, day)).toEqual({ values: spark, unfinished: true, text });
    const days = {
      spark: { start: 0, width: 86_400, length: 4 },
      at: '1970-02-01T00:00:00Z',
      to: '1970-01-05T00:00:00Z',
    };
    expect(trendLine(spark, days)).toEqual({ values: spark, unfinished: false, text: 'Checks per day' });
  });

  test('each point of the trend over a week is the sum of the preceding 24 hours', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 1000 }), { minLength: 8, maxLength: 30 }), (spark) => {
        const length = spark.length;
        const end = new Date(length * 21_600_000).toISOString();
        const { values } = trendLine(spark, { spark: { ...hours6, length }, at: end, to: end });
        const sums = spark.slice(3).map((_, index) => spark.slice(index, index + 4).reduce((a, b) => a + b));
        expect(values).toEqual(sums);
      }),
    );
  });
});

describe('selecting rows', () => {
  const order = ['a', 'b', 'c', 'd', 'e'];

  test.each([
    [[], { key: 'b', on: true, from: undefined }, ['b']],
    [['b'], { key: 'd', on: true, from: 'b' }, ['b', 'c', 'd']],
    [['d'], { key: 'b', on: true, from: 'd' }, ['d', 'b', 'c']],
    [['b', 'c', 'd'], { key: 'c', on: false, from: 'b' }, ['d']],
    [['a'], { key: 'c', on: true, from: 'gone' }, ['a', 'c']],
  ])('the selection %j becomes, after the click %j, the selection %j', (before, change, after) => {
    expect([...selectedAfter(new Set(before), order, change)]).toEqual(after);
  });
});

describe('a change of several flags', () => {
  const steps = ['a', 'b', 'c'].map((name) => ({ name, patch: {} }));

  test('a change of several flags continues after a failure, and reports the failure', async () => {
    const refused = new Error('refused');
    const send = async ({ name }: { name: string }) => {
      if (name === 'b') throw refused;
    };
    const reported: number[] = [];
    const result = await runSteps(steps, send, ({ done, failed }) => reported.push(done.length + failed.length) > 0);
    expect(result).toEqual({ total: 3, done: ['a', 'c'], failed: [{ name: 'b', error: refused }] });
    expect(reported).toEqual([1, 2, 3]);
  });

  test('a change of several flags ends when the reader stops it', async () => {
    const result = await runSteps(
      steps,
      async () => undefined,
      ({ done }) => done.length < 2,
    );
    expect(result.done).toEqual(['a', 'b']);
  });
});

test('a bulk change sets the owner of several flags, and undoing it restores declared owners or CODEOWNERS', () => {
  const row = (owners: object[], ownersFrom: string | null) => ({ owners, ownersFrom, tags: ['a'] }) as never;
  const me = { type: 'user', id: 'user_1' } as const;
  const { patch, undo } = ownerAction(me, 'Ada');
  expect(patch(row([], null))).toEqual({ owners: [me] });
  expect(undo!(row([{ name: 'Eve' }], 'declaration'))).toEqual({ owners: [{ name: 'Eve' }] });
  expect(undo!(row([{ name: '@shop/web' }], 'codeowners'))).toEqual({ owners: [] });
  expect([tagAction('a').patch(row([], null)), tagAction('b').patch(row([], null))]).toEqual([
    undefined,
    { tags: ['a', 'b'] },
  ]);
});

test('the table of senders groups versions by program, and shows the versions for each environment', () => {
  const sender = (name: string, version: string | null, environment: string, day: number) => ({
    name,
    version,
    environment,
    transport: 'http',
    route: 'usage',
    firstAt: '2026-01-01T00:00:00.000Z',
    lastAt: `2026-01-0${day}T00:00:00.000Z`,
  });
  const programs = groupPrograms([
    sender('web', '1.0', 'Production', 2),
    sender('api', '6.4', 'Production', 3),
    sender('web', '1.1', 'Production', 4),
    sender('web', null, 'Staging', 1),
  ] as never);
  expect(programs.map(({ name, lastAt }) => [name, lastAt.slice(0, 10)])).toEqual([
    ['web', '2026-01-04'],
    ['api', '2026-01-03'],
  ]);
  expect(programs[0]!.routes).toEqual(['usage, http']);
  expect([...programs[0]!.environments].map(([name, { versions }]) => [name, versions])).toEqual([
    ['Production', ['1.1', '1.0']],
    ['Staging', []],
  ]);
});

test('a flag of several environments is shown if the search matches one of the environments', () => {
  const features = (...names: string[]) => ({ features: names.map((feature) => ({ feature })) }) as never;
  const overviews = new Map([
    ['Production', features('a', 'b')],
    ['Staging', features('b', 'c')],
  ]);
  const rows = acrossEnvironments(overviews, { search: 'b', state: undefined, me: undefined });
  expect(rows.map(({ feature, by }) => [feature, [...by.keys()]])).toEqual([['b', ['Production', 'Staging']]]);
});
