import { expect, test } from 'vitest';
import { openRegistry } from './registry.ts';

const formatTime = (at: number) => new Date(at).toISOString();

const unsaid = { archived: false, archivedAt: null, permanent: false, snoozedUntil: null, split: null, rollout: null };

const step = (at: string, split: object = { on: 1, off: 1 }) => ({ at, split });

const weights = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`v${at}`, 1]));

test.each<[unknown, string, string?]>([
  [{ name: 'b' }, 'invalid_body'],
  [{ archivedAt: null }, 'invalid_body'],
  [{ snoozedUntil: 'tomorrow' }, 'invalid_time'],
  [{ split: {} }, 'invalid_body', 'Field split must be null or must not have fewer than 1 properties'],
  [{ split: { on: -1 } }, 'invalid_body', 'Field split/on must be > 0'],
  [{ split: { '': 1 } }, 'invalid_name'],
  [{ rollout: [] }, 'invalid_body'],
  [{ rollout: [{ at: '2026-05-01T00:00:00Z' }] }, 'invalid_body'],
  [{ rollout: [{ at: 'soon', split: { on: 1 } }] }, 'invalid_time'],
  [{ rollout: [{ at: '2026-05-01T00:00:00Z', split: { '': 1 } }] }, 'invalid_name'],
  [{ rollout: [step('2026-05-02T00:00:00Z'), step('2026-05-01T00:00:00Z')] }, 'invalid_time'],
  [{ rollout: Array.from({ length: 21 }, (_, day) => step(formatTime(day * 86_400_000))) }, 'invalid_body'],
])('the change %j of a feature is refused', async (patch, code, detail) => {
  const { ask } = await openRegistry();
  await ask('POST', '/features', { name: 'a' });
  const refused = { status: 400, json: { code, ...(detail !== undefined && { detail }) } };
  expect(await ask('PATCH', '/features/a', patch)).toMatchObject(refused);
  expect((await ask('GET', '/features/a')).json).toMatchObject(unsaid);
});

test.each<[object, object]>([
  [{ permanent: true }, { permanent: true }],
  [{ snoozedUntil: '2026-05-01T02:00:00.5+02:00' }, { snoozedUntil: '2026-05-01T00:00:00.500Z' }],
  [{ split: { on: 0.5, off: 3, ['__proto__']: 1 } }, { split: JSON.parse('{"on":0.5,"off":3,"__proto__":1}') }],
  [{ split: weights(64) }, { split: weights(64) }],
  [
    { rollout: [step('2026-05-01T02:00:00+02:00', { on: 1, off: 9 }), step('2026-05-08T00:00:00Z')] },
    { rollout: [step('2026-05-01T00:00:00.000Z', { on: 1, off: 9 }), step('2026-05-08T00:00:00.000Z')] },
  ],
])('a feature keeps the change %j until it is undone', async (patch, shown) => {
  const { ask } = await openRegistry();
  expect((await ask('PATCH', '/features/a', {})).status).toBe(404);
  await ask('POST', '/features', { name: 'a' });
  const sent = JSON.parse(JSON.stringify(patch));
  expect((await ask('PATCH', '/features/a', sent)).json).toEqual(expect.objectContaining({ ...unsaid, ...shown }));
  expect((await ask('GET', '/features')).json.items).toEqual([expect.objectContaining({ ...unsaid, ...shown })]);
  const undone = Object.fromEntries(Object.keys(patch).map((field) => [field, field === 'permanent' ? false : null]));
  expect((await ask('PATCH', '/features/a', undone)).json).toMatchObject(unsaid);
});

test('archivedAt is the time of the first archiving until the feature is unarchived', async () => {
  const { ask, clock } = await openRegistry();
  await ask('POST', '/features', { name: 'a' });
  const change = async (archived: boolean) => (await ask('PATCH', '/features/a', { archived })).json.archivedAt;
  const first = formatTime(clock.now());
  expect(await change(true)).toBe(first);
  clock.advance(1000);
  expect(await change(true)).toBe(first);
  expect(await change(false)).toBeNull();
  expect(await change(true)).toBe(formatTime(clock.now()));
});

test('a declaration by an earlier release has the defaults of newer settings', async () => {
  const { ask, directory, application } = await openRegistry();
  const stored = { applicationId: application.id, name: 'old', number: 7, description: 'From before' };
  await directory.change((tx) => {
    const times = { createdAt: 1000, updatedAt: 1000 };
    tx.put('features', `${application.id} old`, { ...stored, archived: true, ...times } as never);
  });
  const shown = { name: 'old', description: 'From before', ...unsaid, archived: true };
  expect((await ask('GET', '/features')).json.items).toMatchObject([shown]);
  expect((await ask('GET', '/features/old')).json).toMatchObject(shown);
  expect((await ask('PATCH', '/features/old', { permanent: true })).json).toMatchObject({ ...shown, permanent: true });
});

test('an undeclared feature is shown with the most similar declared name', async () => {
  const { ask, see } = await openRegistry();
  for (const name of ['checkout', 'search']) await ask('POST', '/features', { name });
  see({ f: { chekcout: { on: [1] }, zzz: { on: [1] } } });
  const readNearest = async (name: string) => (await ask('GET', `/features/${name}`)).json.nearest;
  expect([await readNearest('chekcout'), await readNearest('zzz'), await readNearest('checkout')]).toEqual([
    'checkout',
    null,
    null,
  ]);
});
