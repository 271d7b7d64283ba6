import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { type PasswordPool, startPasswordPool } from '../../src/accounts/password-pool.ts';
import { noPasswordHash, verifyPassword } from '../../src/accounts/passwords.ts';
import { workerFile } from '../support/service.ts';

function openPool(): PasswordPool {
  const pool = startPasswordPool(workerFile('accounts/password-worker'));
  onTestFinished(() => pool.close());
  return pool;
}

test('a worker thread hashes and verifies passwords while the main thread continues', async () => {
  const pool = openPool();
  let ticks = 0;
  const watch = setInterval(() => {
    ticks += 1;
  }, 1);
  const hash = await pool.hash('open sesame', randomBytes, 'ada');
  const before = ticks;
  expect(await pool.verify('open sesame', hash)).toBe(true);
  expect(await pool.verify('open sesam', hash)).toBe(false);
  clearInterval(watch);
  expect(ticks - before).toBeGreaterThan(5);
  expect(await verifyPassword('open sesame', hash)).toBe(true);
  expect(await pool.hash('open sesame', randomBytes, 'ada')).not.toBe(hash);
});

test('the hash of a user without a password matches no password, and takes as long to verify as any other hash', async () => {
  const pool = openPool();
  const hash = await pool.hash('x', randomBytes, 'ada');
  expect(noPasswordHash.split('$').slice(0, 4)).toEqual(hash.split('$').slice(0, 4));
  expect(noPasswordHash).toHaveLength(hash.length);
  for (const password of ['x', '', 'A'.repeat(1024), 'A'.repeat(1025)])
    expect(await pool.verify(password, noPasswordHash)).toBe(false);
});

test('the password pool refuses to hash while too many passwords are waiting', async () => {
  const pool = openPool();
  const hash = await pool.hash('x', randomBytes, 'ada');
  const waiting: Promise<boolean>[] = [];
  const fill = () => {
    for (;;) waiting.push(pool.verify('x', hash));
  };
  expect(fill).toThrow('Too many passwords are waiting to be checked');
  expect(() => pool.checkRoom()).toThrow(expect.objectContaining({ code: 'backpressure', retryAfter: 2 }));
  expect(waiting.length).toBeGreaterThanOrEqual(32);
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([true]));
  pool.checkRoom();
});

test('a sign-in does not wait for the queued passwords of API callers', async () => {
  const pool = openPool();
  const hash = await pool.hash('x', randomBytes, 'ada');
  let hashed = 0;
  const asked = ['ada', 'bob', 'ada', 'bob', 'ada', 'bob'].map(async (caller) => {
    await pool.hash('y', randomBytes, caller);
    hashed += 1;
  });
  expect(await pool.verify('x', hash)).toBe(true);
  expect(hashed).toBeLessThanOrEqual(2);
  await Promise.all(asked);
});
