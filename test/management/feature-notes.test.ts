import { expect, test } from 'vitest';
import { deleteApplication } from '../../src/accounts/applications.ts';
import { refusal } from '../auth/fixture.ts';
import { openRegistry } from './registry.ts';

const notes = '/features/a/notes';
const formatTime = (at: number) => new Date(at).toISOString();

test('a feature lists its notes by time and with their authors, until the notes are deleted', async () => {
  const { ask, clock, application } = await openRegistry();
  await ask('POST', '/features', { name: 'a' });
  const now = await ask('POST', notes, { text: 'Now' });
  expect(now).toMatchObject({
    status: 201,
    json: { at: formatTime(clock.now()), environment: null, text: 'Now', by: 'User' },
  });
  const before = await ask('POST', notes, {
    text: 'Before: ½ 🎉',
    at: '2020-01-31T13:00:00+01:00',
    environment: 'Staging',
  });
  expect(before.json).toMatchObject({ at: '2020-01-31T12:00:00.000Z', environment: 'Staging' });
  expect(before.headers['location']).toBe(`/api/v2/applications/${application.id}${notes}/${before.json.id}`);
  const shown = async () => (await ask('GET', '/features/a')).json.notes;
  expect(await shown()).toEqual([before.json, now.json]);
  expect((await ask('DELETE', `${notes}/${before.json.id}`)).status).toBe(204);
  expect(await shown()).toEqual([now.json]);
  expect(await ask('DELETE', `${notes}/${before.json.id}`)).toMatchObject(refusal(404, 'not_found'));
});

test('notes are in the audit log, and do not change the entity tag of their feature', async () => {
  const { ask, store } = await openRegistry();
  const { headers } = await ask('POST', '/features', { name: 'a' });
  const { json } = await ask('POST', notes, { text: 'Now' });
  expect((await ask('GET', '/features/a')).headers['etag']).toBe(headers['etag']);
  await ask('DELETE', `${notes}/${json.id}`);
  const actions = [...store.audit.getRange().map(({ value }) => value.action)];
  expect(actions.slice(-2)).toEqual(['feature.noted', 'feature.note-deleted']);
});

test('an undeclared feature accepts notes and remains undeclared', async () => {
  const { ask, see } = await openRegistry();
  expect((await ask('POST', notes, { text: 'Now' })).status).toBe(404);
  see({ f: { a: { on: [1] } } });
  expect((await ask('POST', notes, { text: 'Now' })).status).toBe(201);
  expect((await ask('GET', '/features/a')).json).toMatchObject({ declared: false, notes: [{ text: 'Now' }] });
});

test('a feature has at most a hundred notes', async () => {
  const { ask } = await openRegistry();
  await ask('POST', '/features', { name: 'a' });
  for (let at = 0; at < 100; at += 1) expect((await ask('POST', notes, { text: `${at}` })).status).toBe(201);
  expect(await ask('POST', notes, { text: 'more' })).toMatchObject(refusal(409, 'conflict'));
});

test('notes are deleted with the declaration of their feature, or with the application', async () => {
  const { ask, store, directory, application } = await openRegistry();
  const kept = () => {
    store.notes.resetReadTxn();
    return [...store.notes.getKeys()];
  };
  for (const name of ['a', 'b c']) {
    await ask('POST', '/features', { name });
    await ask('POST', `/features/${encodeURIComponent(name)}/notes`, { text: 'Now' });
  }
  await ask('DELETE', '/features/a');
  expect(kept()).toEqual([`${application.id} b c`]);
  await deleteApplication(directory, application.id);
  expect(kept()).toEqual([]);
});

test.each<[unknown, number, string]>([
  [{ text: 'a', at: 'now' }, 400, 'invalid_time'],
  [{ text: 'a', environment: 'Nowhere' }, 404, 'unknown_environment'],
])('the note %j is refused', async (body, status, code) => {
  const { ask } = await openRegistry();
  await ask('POST', '/features', { name: 'a' });
  expect(await ask('POST', notes, body)).toMatchObject({ status, json: { code } });
});
