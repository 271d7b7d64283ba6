import { describe, expect, test } from 'vitest';
import { sweepRound } from '../../src/auth/sweep.ts';
import { refusal } from '../auth/fixture.ts';
import { openManageFixture } from './fixture.ts';

async function open() {
  const fixture = await openManageFixture();
  return { ...fixture, path: `/applications/${fixture.application.id}/keys` };
}

describe('a rotated key', () => {
  const day = 24 * 3_600_000;

  test.each(['Frontend', 'Mobile', 'Backend'] as const)(
    'a rotated %s key is accepted for a day next to its successor, and is then revoked',
    async (type) => {
      const { call, path, clock, directory, application, store: accounts, accountStore } = await open();
      const old = (await call('POST', path, { type, name: 'Web' })).json;
      const { status, json, headers } = await call('POST', `${path}/${old.id}/rotate`);
      const until = new Date(clock.now() + day).toISOString();
      expect([status, headers['location']]).toEqual([201, `/api/v2${path}/${json.id}`]);
      const made = { type, name: 'Web', createdAt: old.createdAt, previousKeyUntil: until };
      expect(json).toEqual({ ...made, id: expect.not.stringMatching(old.id), key: expect.any(String) });
      expect(json.key.slice(0, 6)).toBe(old.key.slice(0, 6));
      const listed = (await call('GET', path)).json.items;
      expect(listed).toMatchObject([
        { id: old.id, expiresAt: until },
        { id: json.id, name: 'Web', expiresAt: null },
      ]);
      const found = (...keys: string[]) => keys.map((key) => directory.findKey(key)?.key.id);
      clock.advance(day - 1);
      expect(found(old.key, json.key)).toEqual([old.id, json.id]);
      clock.advance(1);
      expect(found(old.key, json.key)).toEqual([undefined, json.id]);
      const pause = async () => true;
      await sweepRound({ accounts, accountStore, clock, auditMs: day * 900, pause, failed: () => {} });
      expect(directory.getApplicationKeys(application.id)).toMatchObject([{ id: json.id }]);
      const { revokedKeys } = directory.applications.get(application.id)!;
      expect(revokedKeys).toMatchObject([{ id: old.id, revokedAt: clock.now() }]);
    },
  );

  test('a rotated key cannot be rotated again, and is revoked when its successor is rotated', async () => {
    const { call, path, directory } = await open();
    const first = (await call('POST', path, { type: 'Backend' })).json;
    const second = (await call('POST', `${path}/${first.id}/rotate`)).json;
    const again = await call('POST', `${path}/${first.id}/rotate`);
    expect(again).toMatchObject(refusal(409, 'conflict'));
    const third = (await call('POST', `${path}/${second.id}/rotate`)).json;
    const found = [first, second, third].map(({ key }) => directory.findKey(key)?.key.id);
    expect(found).toEqual([undefined, second.id, third.id]);
    expect((await call('GET', `${path}?revoked=true`)).json.items).toMatchObject([{ id: first.id }]);
    await call('DELETE', `${path}/${third.id}`);
    expect((await call('POST', `${path}/${second.id}/rotate`)).status).toBe(201);
  });

  test('a second rotation, after the successor was deleted, does not extend the validity of a key', async () => {
    const { call, path, directory, clock } = await open();
    const old = (await call('POST', path, { type: 'Backend' })).json;
    const successor = (await call('POST', `${path}/${old.id}/rotate`)).json;
    await call('DELETE', `${path}/${successor.id}`);
    clock.advance(60_000);
    const again = (await call('POST', `${path}/${old.id}/rotate`)).json;
    expect(again.previousKeyUntil).toBe(successor.previousKeyUntil);
    clock.advance(day - 60_000);
    expect([old, again].map(({ key }) => directory.findKey(key)?.key.id)).toEqual([undefined, again.id]);
  });

  test('an adopted token cannot be rotated, and remains valid', async () => {
    const { call, path, directory, clock } = await open();
    const token = 'default:production.our-usual-password-1';
    const adopted = { token, type: 'Backend', environment: 'Production', name: 'Unleash' };
    const old = (await call('POST', `${path}/adopt`, adopted)).json;
    const remedy = 'create a new token in Unleash, adopt it with `flagmeter keys adopt`, and then delete this key';
    expect(await call('POST', `${path}/${old.id}/rotate`)).toMatchObject(
      refusal(
        409,
        'conflict',
        `Cannot rotate an adopted token: its clients can send only Unleash tokens. To replace it, ${remedy}`,
      ),
    );
    expect((await call('GET', path)).json.items).toMatchObject([
      { id: old.id, expiresAt: null, warnings: [{ code: 'weak', message: expect.stringContaining(remedy) }] },
    ]);
    clock.advance(day);
    expect(directory.findKey(token)?.key.id).toBe(old.id);
  });

  test('a rotated key does not count towards the limit of the plan', async () => {
    const { call, path, application } = await open();
    await call('PATCH', `/teams/${application.teamId}`, { plan: 'free' });
    const made: string[] = [];
    for (;;) {
      const { status, json } = await call('POST', path, { type: 'Mobile' });
      if (status !== 201) break;
      made.push(json.id);
    }
    expect(made.length).toBeGreaterThan(1);
    for (const id of made) expect((await call('POST', `${path}/${id}/rotate`)).status).toBe(201);
    expect((await call('POST', path, { type: 'Mobile' })).json.code).toBe('plan_limit');
  });
});
