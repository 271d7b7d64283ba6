import { expect, test } from 'vitest';
import { finishDeletion } from '../../src/accounts/deletions.ts';
import { openManageFixture } from './fixture.ts';

test('the deletion of an application is listed for its team until all data is removed', async () => {
  const { call, clock, directory, team, tokens, application } = await openManageFixture();
  expect((await call('GET', '/deletions')).json).toEqual({ items: [], nextCursor: null });
  await call('DELETE', `/applications/${application.id}/environments/Staging`);
  clock.advance(1000);
  await call('DELETE', `/applications/${application.id}`);
  const { id, name } = application;
  const now = clock.now();
  const environment = {
    target: { type: 'environment', id, name: 'Staging' },
    teamId: team.id,
    requestedAt: new Date(now - 1000).toISOString(),
  };
  const whole = {
    target: { type: 'application', id, name },
    teamId: team.id,
    requestedAt: new Date(now).toISOString(),
  };
  const { items } = (await call('GET', '/deletions', undefined, tokens.user)).json;
  expect(items).toHaveLength(2);
  expect(items).toEqual(expect.arrayContaining([environment, whole]));
  expect((await call('GET', '/deletions', undefined, tokens.outsider)).json.items).toEqual([]);

  const first = (await call('GET', '/deletions?limit=1')).json;
  const second = (await call('GET', `/deletions?limit=1&cursor=${first.nextCursor}`)).json;
  expect([...first.items, ...second.items]).toEqual(items);
  expect(second.nextCursor).toBeNull();

  for (const deletion of [...directory.deletions.values()]) await finishDeletion(directory, deletion);
  expect((await call('GET', '/deletions')).json.items).toEqual([]);
});
