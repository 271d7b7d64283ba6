import { expect, test } from 'vitest';
import { createApplication, deleteApplication, deleteEnvironment } from '../../src/accounts/applications.ts';
import { finishDeletion } from '../../src/accounts/deletions.ts';
import { declareFeature, deleteFeature } from '../../src/accounts/features.ts';
import { declareMetric, deleteMetric } from '../../src/accounts/metrics.ts';
import { openFixture, reopen } from './fixture.ts';

const names = (declared: ReadonlyMap<string, unknown>) => [...declared.keys()].toSorted();

test('declarations belong to one application and survive a restart', async () => {
  const fixture = await openFixture();
  const { directory, application, team } = fixture;
  const other = await createApplication(directory, { name: 'Other', teamId: team.id });
  for (const name of ['a', 'with space', '__proto__']) await declareFeature(directory, application.id, { name });
  await declareFeature(directory, other.id, { name: 'a' });
  await declareMetric(directory, application.id, 'a', { kind: 'gauge', unit: null });
  await deleteFeature(directory, application.id, 'a');
  for (const reader of [directory, reopen(fixture)]) {
    expect(names(reader.getFeatures(application.id))).toEqual(['__proto__', 'with space']);
    expect(names(reader.getMetrics(application.id))).toEqual(['a']);
    expect(names(reader.getFeatures(other.id))).toEqual(['a']);
    expect(names(reader.getMetrics(other.id))).toEqual([]);
  }
  await deleteMetric(directory, application.id, 'a');
  expect(names(reopen(fixture).getMetrics(application.id))).toEqual([]);
});

test('deleting an application deletes only its own declarations', async () => {
  const fixture = await openFixture();
  const { directory, application, team } = fixture;
  const other = await createApplication(directory, { name: 'Other', teamId: team.id });
  for (const { id } of [application, other]) {
    await declareFeature(directory, id, { name: 'a' });
    await declareMetric(directory, id, 'a', { kind: 'gauge', unit: '%' });
  }
  await deleteApplication(directory, application.id);
  for (const reader of [directory, reopen(fixture)]) {
    expect([reader.getFeatures(application.id).size, reader.getMetrics(application.id).size]).toEqual([0, 0]);
    expect([reader.getFeatures(other.id).size, reader.getMetrics(other.id).size]).toEqual([1, 1]);
  }
});

test('a pending deletion survives restarts until it is complete', async () => {
  const fixture = await openFixture();
  const { directory, application, clock } = fixture;
  const [production, staging, development] = application.environments.map(({ number }) => number);
  await deleteEnvironment(directory, application.id, 'Staging');
  await deleteApplication(directory, application.id);
  const common = { application: application.number, teamId: application.teamId, requestedAt: clock.now() };
  const deletions = [...reopen(fixture).deletions.values()];
  expect(deletions).toHaveLength(2);
  expect(deletions).toEqual(
    expect.arrayContaining([
      {
        ...common,
        environments: [staging],
        whole: false,
        target: { type: 'environment', id: application.id, name: 'Staging' },
      },
      {
        ...common,
        environments: [production, development],
        whole: true,
        target: { type: 'application', id: application.id, name: 'Shop' },
      },
    ]),
  );
  for (const deletion of deletions) await finishDeletion(directory, deletion);
  expect(reopen(fixture).deletions.size).toBe(0);
});
