import { expect, test } from 'vitest';
import { experimentsOf, planExperiment } from '../../src/accounts/experiments.ts';
import { exampleFigures } from '../../src/contract/shapes/experiment-figures.ts';
import { finishDue } from '../../src/management/finish-experiments.ts';
import type { ReportPool } from '../../src/management/report-pool.ts';
import { openManageFixture } from './fixture.ts';

const dayMs = 86_400_000;

test('an experiment whose report fails does not keep others from being finished', async () => {
  const { directory, application, clock } = await openManageFixture();
  const { id, environments } = application;
  for (const name of ['broken', 'fine'])
    await planExperiment(directory, id, name, {
      ...{ name, hypothesis: null, environment: environments[0]!.number, base: 'off', split: null },
      ...{ startAt: clock.now(), endAt: clock.now() + 9 * dayMs, users: null },
      ...{ metric: 'used', direction: 'up', guardrails: [] },
    });
  const result = { ...exampleFigures, state: 'running', frozen: false, daily: [] } as const;
  const make = (async (_team: string, _name: string, { feature }: { feature: string }) => {
    if (feature === 'broken') throw new Error('too many points');
    return { isMet: true, result, users: 0 };
  }) as unknown as ReportPool['make'];
  const round = finishDue({ directory, reports: { make }, completeThrough: async () => undefined });
  await expect(round).rejects.toThrow('too many points');
  const frozen = experimentsOf(directory, id).map(({ experiment }) => experiment.result !== undefined);
  expect(frozen).toEqual([false, true]);
});
