import { describe, expect, test } from 'vitest';
import { auditKey } from '../../src/accounts/audit-log.ts';
import { passkeyKey } from '../../src/accounts/passkeys.ts';
import { createUser, deleteUser } from '../../src/accounts/users.ts';
import { invalidationKey } from '../../src/auth/oauth/tokens.ts';
import { sweepExpired, sweepRound } from '../../src/auth/sweep.ts';
import { openSessionFixture, type SessionFixture } from './session-fixture.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Runs a round of the sweep. Returns the number of pauses. */
async function sweep(fixture: SessionFixture, goOn: () => boolean = () => true): Promise<number> {
  let pauses = 0;
  const { store: accounts, accountStore, clock } = fixture;
  const pause = async () => {
    pauses += 1;
    return goOn();
  };
  await sweepRound({ accounts, accountStore, clock, auditMs: 400 * dayMs, pause, failed: () => {} });
  return pauses;
}

function counts({ store }: SessionFixture): Record<string, number> {
  const { invalidated, sessions, userSessions, codes, signIns, loginThrottles } = store;
  const tables = { invalidated, sessions, userSessions, codes, signIns, loginThrottles };
  return Object.fromEntries(Object.entries(tables).map(([name, table]) => [name, table.getCount()]));
}

/** Adds `count` tokens that expire in `inSeconds` to the invalidation list. */
function list({ store, clock }: SessionFixture, count: number, inSeconds: number): void {
  const exp = Math.floor(clock.now() / 1000) + inSeconds;
  store.lmdb.transactionSync(() => {
    for (let n = 0; n < count; n += 1)
      store.invalidated.putSync(invalidationKey({ jti: `${n}.${inSeconds}`, exp }), true);
  });
}

describe('sweepRound', () => {
  test('removes a token from the invalidation list only after its expiry', async () => {
    const fixture = await openSessionFixture();
    const { access_token } = await fixture.tokens();
    const headers = { authorization: `Bearer ${access_token}` };
    await fixture.post('/api/account/invalidate-token', {}, headers);
    fixture.clock.advance(hourMs - 1);
    await sweep(fixture);
    expect(counts(fixture)).toMatchObject({ invalidated: 1 });
    expect(await fixture.call(access_token)).toBe(401);
    fixture.clock.advance(62_000);
    await sweep(fixture);
    expect(counts(fixture)).toMatchObject({ invalidated: 0 });
    expect(await fixture.call(access_token)).toBe(401);
  });

  test('removes sessions unused for 30 days', async () => {
    const fixture = await openSessionFixture();
    const { refresh_token } = await fixture.tokens();
    await fixture.tokens();
    fixture.clock.advance(20 * dayMs);
    await fixture.refresh(refresh_token);
    fixture.clock.advance(10 * dayMs);
    await sweep(fixture);
    expect(counts(fixture)).toMatchObject({ sessions: 1, userSessions: 1 });
  });

  test("removes sessions of deleted users, but keeps sessions of users who left the client's team", async () => {
    const fixture = await openSessionFixture();
    await fixture.tokens();
    await fixture.tokens({}, fixture.app);
    await fixture.directory.change((tx) => tx.put('users', fixture.user.id, { ...fixture.user, teams: [] }));
    await sweep(fixture);
    expect(counts(fixture)).toMatchObject({ sessions: 2, signIns: 2 });
    await fixture.directory.change((tx) => tx.remove('users', fixture.user.id));
    await sweep(fixture);
    expect(counts(fixture)).toMatchObject({ sessions: 0, userSessions: 0, signIns: 0 });
  });

  test('removes passkeys of users whom an earlier release deleted', async () => {
    const fixture = await openSessionFixture();
    const { accountStore, directory, store, team } = fixture;
    const wanted = { name: 'G', role: 'User', teams: [team.id], passwordHash: '' } as const;
    const { id } = await createUser(directory, { ...wanted, email: 'grace@example.com' });
    const passkey = {
      userId: id,
      credentialId: 'AAAA',
      publicKey: 'AAAA',
      counter: 0,
      transports: [],
      aaguid: '',
      backedUp: false,
      name: 'Phone',
      createdAt: 0,
      lastUsedAt: null,
      answered: [],
    };
    const add = () => accountStore.change((tx) => tx.put('passkeys', passkeyKey(id, 'a'), passkey));
    await add();
    await sweep(fixture);
    expect(store.passkeys.getCount()).toBe(1);
    await deleteUser(directory, id);
    expect(store.passkeys.getCount()).toBe(0);
    await add();
    await sweep(fixture);
    expect(store.passkeys.getCount()).toBe(0);
  });

  test('removes unused codes after a minute, and exchanged codes after an hour', async () => {
    const fixture = await openSessionFixture();
    const used = await fixture.code();
    await fixture.exchange(used);
    await fixture.code();
    fixture.clock.advance(60_000);
    await sweep(fixture);
    expect(counts(fixture)).toMatchObject({ codes: 1, sessions: 1 });
    fixture.clock.advance(hourMs);
    await sweep(fixture);
    expect(counts(fixture)).toMatchObject({ codes: 0, sessions: 1 });
  });

  test('removes expired sign-ins and login throttles', async () => {
    const fixture = await openSessionFixture();
    await fixture.signIn();
    fixture.store.loginThrottles.putSync(`account.${'0'.repeat(64)}`, { failures: 1, lastAt: fixture.clock.now() });
    await sweep(fixture);
    expect(counts(fixture)).toMatchObject({ signIns: 1, loginThrottles: 1 });
    fixture.clock.advance(8 * dayMs);
    await sweep(fixture);
    expect(counts(fixture)).toMatchObject({ signIns: 0, loginThrottles: 0 });
  });
});

/** Replaces the audit log with one entry for each day until now. */
function audit({ store, clock }: SessionFixture, days: number): void {
  const first = clock.now() - (days - 1) * dayMs;
  store.lmdb.transactionSync(() => {
    for (const key of [...store.audit.getKeys()]) store.audit.removeSync(key);
    for (let number = 0; number < days; number += 1) {
      const actor = { type: 'system', id: 'x', name: 'x', address: '' } as const;
      const target = { type: 'team', id: 'x', name: 'x' };
      const entry = { number, at: first + number * dayMs, actor, action: 'team.changed', teamId: null, target };
      store.audit.putSync(auditKey(number), entry);
    }
  });
}

test('a sweep removes audit log entries after 400 days, and reads few newer entries', async () => {
  const fixture = await openSessionFixture();
  audit(fixture, 1200);
  expect(await sweep(fixture)).toBeLessThan(6);
  expect([...fixture.store.audit.getRange({ limit: 1 })]).toMatchObject([{ value: { number: 799 } }]);
  expect(fixture.store.audit.getCount()).toBe(401);
  expect(await sweep(fixture)).toBe(0);
});

describe('a large sweep', () => {
  test('a large sweep takes small steps, and keeps unexpired records', async () => {
    const fixture = await openSessionFixture();
    list(fixture, 3000, 10);
    list(fixture, 500, 7200);
    fixture.clock.advance(hourMs);
    const sizes: number[] = [];
    await sweep(fixture, () => {
      sizes.push(fixture.store.invalidated.getCount());
      return true;
    });
    expect(sizes.length).toBeGreaterThan(10);
    for (const [at, size] of sizes.entries()) expect((sizes[at - 1] ?? 3500) - size).toBeLessThanOrEqual(256);
    expect(counts(fixture)).toMatchObject({ invalidated: 500 });
  });

  test('a sweep ends when the service stops, and the next sweep continues', async () => {
    const fixture = await openSessionFixture();
    list(fixture, 1000, 10);
    fixture.clock.advance(hourMs);
    expect(await sweep(fixture, () => false)).toBe(1);
    expect(counts(fixture)['invalidated']).toBeGreaterThan(0);
    await sweep(fixture);
    expect(counts(fixture)).toMatchObject({ invalidated: 0 });
  });

  test('other requests are served between the steps of a sweep', async () => {
    const fixture = await openSessionFixture();
    const { access_token } = await fixture.tokens();
    list(fixture, 1000, 10);
    fixture.clock.advance(60 * 60_000 - 1000);
    let statuses = 0;
    await sweep(fixture, () => {
      void fixture.call(access_token).then((status) => {
        statuses += status === 200 ? 1 : 0;
      });
      return true;
    });
    await expect.poll(() => statuses).toBeGreaterThan(2);
  });
});

test('a sweep fails while the store accepts no writes, and the next sweep removes the rest', async () => {
  const fixture = await openSessionFixture();
  const { store: accounts, accountStore, health, clock } = fixture;
  list(fixture, 10, 10);
  clock.advance(hourMs);
  health.ready = false;
  const failures: unknown[] = [];
  let rounds = 0;
  const pause = async () => {
    health.ready = true;
    rounds += 1;
    return rounds < 2;
  };
  await sweepExpired({
    accounts,
    accountStore,
    clock,
    auditMs: 400 * dayMs,
    pause,
    failed: (error) => void failures.push(error),
  });
  expect(failures).toMatchObject([{ code: 'store_unavailable' }]);
  expect(counts(fixture)).toMatchObject({ invalidated: 0 });
});
