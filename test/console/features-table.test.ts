import { describe, expect, test } from 'vitest';
import { selectedAfter } from '../../src/console/components/table/selection.tsx';
import { groupPrograms } from '../../src/console/pages/feature/traffic.ts';
import { acrossEnvironments } from '../../src/console/pages/overview/across.ts';
import { ownerAction, runSteps, tagAction } from '../../src/console/pages/overview/bulk-actions.ts';

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
