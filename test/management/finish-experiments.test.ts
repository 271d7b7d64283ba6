import { expect, test } from 'vitest';
import { listExperiments, planExperiment } from '../../src/accounts/experiments.ts';
import { exampleFigures } from '../../src/contract/shapes/experiment-figures.ts';
import { createTask } from '../../src/management/experiment-task.ts';
import { showExperiment } from '../../src/management/experiments.ts';
import { finishDue } from '../../src/management/finish-experiments.ts';
import { createReports } from '../../src/reports/make-report.ts';
import type { ReportPool } from '../../src/reports/report-pool.ts';
import { finish } from '../support/finish.ts';
import { openManageFixture } from './fixture.ts';
import { openRegistry } from './registry.ts';

const dayMs = 86_400_000;

test('other experiments finish even if the report of one experiment fails', async () => {
  const { directory, application, clock } = await openManageFixture();
  const { id, environments } = application;
  for (const name of ['broken', 'fine'])
    await planExperiment(directory, id, name, {
      name,
      hypothesis: null,
      environment: environments[0]!.number,
      base: 'off',
      split: null,
      startAt: clock.now() - 9 * dayMs,
      endAt: null,
      users: 100,
      metric: 'used',
      direction: 'up',
      guardrails: [],
    });
  const result = { ...exampleFigures, state: 'running', frozen: false, daily: [] } as const;
  const make = (async (_team: string, _name: string, { feature }: { feature: string }) => {
    if (feature === 'broken') throw new Error('too many points');
    return { isMet: true, result, users: 0 };
  }) as unknown as ReportPool['make'];
  const round = finishDue({ directory, reports: { make }, completeThrough: async () => undefined });
  await expect(round).rejects.toThrow('too many points');
  const frozen = listExperiments(directory, id).map(({ experiment }) => experiment.result !== undefined);
  expect(frozen).toEqual([false, true]);
});

test('the report of an experiment is computed only once its plan can be met', async () => {
  const { directory, application, clock } = await openManageFixture();
  const { id, environments } = application;
  clock.advance(dayMs - (clock.now() % dayMs));
  for (const [name, ends] of [
    ['by-time', { endAt: clock.now() + 9 * dayMs, users: null }],
    ['by-users', { endAt: null, users: 100 }],
  ] as const)
    await planExperiment(directory, id, name, {
      name,
      hypothesis: null,
      environment: environments[0]!.number,
      base: 'off',
      split: null,
      startAt: clock.now(),
      metric: 'used',
      direction: 'up',
      guardrails: [],
      ...ends,
    });
  const computed = async () => {
    const names: string[] = [];
    const make = (async (_team: string, _name: string, { feature }: { feature: string }) => {
      names.push(feature);
      return { isMet: false, result: exampleFigures, users: 0 };
    }) as unknown as ReportPool['make'];
    await finishDue({ directory, reports: { make }, completeThrough: async () => undefined });
    return names;
  };
  expect(await computed()).toEqual([]);
  clock.advance(7 * dayMs);
  expect(await computed()).toEqual(['by-users']);
  clock.advance(2 * dayMs);
  expect(await computed()).toEqual(['by-time', 'by-users']);
});

test('the daily values of a finished experiment end on the day of its result', async () => {
  const { directory, application, clock, see, usage } = await openRegistry();
  const { id, environments } = application;
  clock.advance(dayMs - (clock.now() % dayMs));
  const { feature, experiment } = await planExperiment(directory, id, 'checkout', {
    name: 'One page',
    hypothesis: null,
    environment: environments[0]!.number,
    base: 'off',
    split: null,
    startAt: clock.now(),
    endAt: null,
    users: 100,
    metric: 'used',
    direction: 'up',
    guardrails: [],
  });
  const days = async (count: number) => {
    for (let day = 0; day < count; day += 1) {
      see({ f: { checkout: { on: [1] } } });
      clock.advance(dayMs);
    }
  };
  await days(8);
  const at = clock.now();
  const result = { at, figures: { ...exampleFigures, at: new Date(at).toISOString() } };
  await days(3);
  const found = { feature, experiment: { ...experiment, result } };
  const report = await finish(createReports(usage).experiment(createTask(directory, found)));
  expect(report.result.daily.map(({ values }) => values.length)).toEqual([8]);
  const shown = showExperiment(directory, directory.applications.get(id)!, found, clock.now());
  expect(shown.progress.day).toBe(9);
});
