import { describe, expect, test } from 'vitest';
import { rotateSigningKey, storedKeys } from '../../../src/accounts/signing-keys.ts';
import { type KeyRing, openKeyRing } from '../../../src/auth/oauth/key-ring.ts';
import { issueAccessToken, type Subject, verifyAccessToken } from '../../../src/auth/oauth/tokens.ts';
import { createLog } from '../../../src/runtime/log.ts';
import type { SigningAlgorithm } from '../../../src/storage/lmdb/auth-records.ts';
import { type AuthFixture, openAuthFixture } from '../fixture.ts';
import { algorithms } from '../forgery.ts';

const lifeMs = 3_600_000;
const leewayMs = 120_000;
/** Time from the publication of a new key to its first signature. */
const aheadMs = 60_000;

const subject: Subject = {
  sub: 'client_1',
  client_id: 'client_1',
  scope: 'openid flagmeter',
  role: 'User',
  team: ['team_1'],
  primaryTeam: 'team_1',
};

interface RingFixture extends AuthFixture {
  /** The log lines, as `message keyId`. */
  readonly logged: string[];
  /** Opens the keys of the store as a starting service does. */
  open(alg?: SigningAlgorithm): Promise<KeyRing>;
  /** Advances the clock by a second, and rotates the key like `flagmeter signing-keys rotate`. */
  rotate(): Promise<string>;
  issue(keys: KeyRing): Promise<string>;
  isGood(keys: KeyRing, token: string): Promise<boolean>;
  /** Actions and targets in the audit log. */
  audited(): string[];
}

async function openRingFixture(): Promise<RingFixture> {
  const fixture = await openAuthFixture();
  const { store: accounts, clock, signingKey, settings } = fixture;
  await accounts.signingKeys.put(signingKey.kid, signingKey);
  const logged: string[] = [];
  const log = createLog(
    'debug',
    (line) => {
      const { msg, keyId } = JSON.parse(line);
      logged.push(`${msg} ${keyId}`);
    },
    clock,
  );
  return {
    ...fixture,
    logged,
    open: (alg = 'ES256') => openKeyRing({ ...fixture, accounts, log }, alg),
    async rotate() {
      clock.advance(1000);
      return (await rotateSigningKey(accounts, clock.now())).current.kid;
    },
    issue: (keys) => issueAccessToken({ ...settings, keys }, subject),
    isGood: (keys, token) =>
      verifyAccessToken({ ...settings, keys }, token).then(
        () => true,
        () => false,
      ),
    audited: () =>
      Array.from(accounts.audit.getRange(), ({ value: { action, target } }) => `${action} ${target.id}`).filter(
        (entry) => entry.startsWith('signing-key.'),
      ),
  };
}

const listKids = (keys: KeyRing) => keys.published.map(({ kid }) => kid);

describe('a key rotated while the service runs', () => {
  test('a new signing key is published a minute before it signs, and tokens of the old key remain valid', async () => {
    const { open, rotate, issue, isGood, signingKey, logged, clock } = await openRingFixture();
    const keys = await open();
    const before = await issue(keys);
    const kid = await rotate();
    expect(listKids(keys)).toEqual([signingKey.kid]);
    await keys.refresh();
    expect(listKids(keys)).toEqual([kid, signingKey.kid]);
    clock.advance(aheadMs - 1);
    await keys.refresh();
    const between = await issue(keys);
    expect(keys.current.kid).toBe(signingKey.kid);
    expect(logged).toEqual([]);
    clock.advance(1);
    await keys.refresh();
    expect(keys.current.kid).toBe(kid);
    expect(logged).toEqual([`switched to another signing key ${kid}`]);
    for (const token of [before, between, await issue(keys)]) expect(await isGood(keys, token)).toBe(true);
  });

  test('a rotation removes the private part of the old signing key from the store', async () => {
    const { open, rotate, signingKey, store } = await openRingFixture();
    const keys = await open();
    await rotate();
    await keys.refresh();
    const stored = JSON.stringify(storedKeys(store));
    expect(stored).toContain(signingKey.kid);
    expect(stored).not.toContain(String(signingKey.privateJwk['d']));
    expect(keys.published.every((key) => !('d' in key))).toBe(true);
  });

  test('a service that starts after a rotation knows the new signing key', async () => {
    const { open, rotate, issue, isGood, signingKey } = await openRingFixture();
    const before = await issue(await open());
    const kid = await rotate();
    const keys = await open();
    expect(listKids(keys)).toEqual([kid, signingKey.kid]);
    expect(await isGood(keys, before)).toBe(true);
  });

  test('a rotation changes the list of published keys, which invalidates caches of verified tokens', async () => {
    const { open, rotate } = await openRingFixture();
    const keys = await open();
    const { published } = keys;
    await keys.refresh();
    expect(keys.published).toBe(published);
    await rotate();
    await keys.refresh();
    expect(keys.published).not.toBe(published);
  });
});

describe('a retired key', () => {
  test('a retired signing key is removed when its last token has expired', async () => {
    const { open, rotate, issue, isGood, signingKey, store, clock, logged } = await openRingFixture();
    const keys = await open();
    const kid = await rotate();
    // The old key signs until the service checks for new keys.
    const last = await issue(keys);
    await keys.refresh();
    clock.advance(lifeMs - 1);
    await keys.refresh();
    expect(await isGood(keys, last)).toBe(true);
    clock.advance(leewayMs);
    await keys.refresh();
    expect(listKids(keys)).toEqual([kid, signingKey.kid]);
    clock.advance(1);
    await keys.refresh();
    expect(listKids(keys)).toEqual([kid]);
    expect(storedKeys(store).map((key) => key.kid)).toEqual([kid]);
    expect(logged.at(-1)).toBe(`removed a retired signing key ${signingKey.kid}`);
    expect(await isGood(keys, last)).toBe(false);
  });

  test('later rotations do not shorten the retention of a retired signing key', async () => {
    const { open, rotate, issue, isGood, clock } = await openRingFixture();
    const keys = await open();
    const tokens: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      tokens.push(await issue(keys));
      await rotate();
      await keys.refresh();
    }
    expect(keys.published).toHaveLength(5);
    for (const token of tokens) expect(await isGood(keys, token)).toBe(true);
    clock.advance(lifeMs + leewayMs);
    await keys.refresh();
    expect(listKids(keys)).toEqual([keys.current.kid]);
  });
});

describe('--signing-alg', () => {
  test.each(algorithms.flatMap((from) => algorithms.map((to) => [from, to] as const)))(
    '--signing-alg changes the algorithm of new tokens from %s to %s',
    async (from, to) => {
      const { open, issue, isGood, logged, clock, settings } = await openRingFixture();
      const before = await open(from);
      expect(before.current.alg).toBe(from);
      const token = await issue(before);
      logged.length = 0;
      clock.advance(1000);
      const keys = await open(to);
      expect(keys.current.alg).toBe(to);
      expect(keys.current.kid === before.current.kid).toBe(from === to);
      expect(logged).toEqual(from === to ? [] : [`created a signing key for --signing-alg ${keys.current.kid}`]);
      expect(await isGood(keys, token)).toBe(true);
      expect(await isGood(keys, await issueAccessToken({ ...settings, keys }, subject))).toBe(true);
    },
  );

  test('a rotation of the signing key keeps the algorithm', async () => {
    const { open, rotate } = await openRingFixture();
    const keys = await open('EdDSA');
    await rotate();
    await keys.refresh();
    const [current, ...retired] = keys.published.map(({ alg }) => alg);
    expect([current, ...retired.sort()]).toEqual(['EdDSA', 'ES256', 'EdDSA']);
  });
});

describe('the audit log', () => {
  test('each rotation of the signing key has one audit log entry, even if no service was running', async () => {
    const { open, rotate, audited } = await openRingFixture();
    const made = [await rotate(), await rotate()];
    const keys = await open();
    made.push(await rotate());
    await keys.refresh();
    await keys.refresh();
    const { current } = await open('RS256');
    expect(audited()).toEqual([...made, current.kid].map((kid) => `signing-key.rotated ${kid}`));
    await open('RS256');
    expect(audited()).toHaveLength(4);
  });

  test('a rotation of the signing key has one audit log entry, even if two checks run concurrently', async () => {
    const { open, rotate, audited } = await openRingFixture();
    const keys = await open();
    const made = await rotate();
    await Promise.all([keys.refresh(), keys.refresh()]);
    expect(audited()).toEqual([`signing-key.rotated ${made}`]);
  });
});

test('the known signing keys remain in use while the store accepts no writes', async () => {
  const { open, rotate, issue, isGood, health } = await openRingFixture();
  const keys = await open();
  const token = await issue(keys);
  await rotate();
  health.ready = false;
  await expect(keys.refresh()).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(await isGood(keys, token)).toBe(true);
  health.ready = true;
  await keys.refresh();
  expect(await isGood(keys, token)).toBe(true);
});

test('two concurrent rotations leave only one key that signs', async () => {
  const { open, store, clock } = await openRingFixture();
  await Promise.all([rotateSigningKey(store, clock.now() + 1), rotateSigningKey(store, clock.now() + 2)]);
  expect(storedKeys(store).filter((key) => 'privateJwk' in key)).toHaveLength(1);
  expect((await open()).published).toHaveLength(3);
});

test('a store without signing keys cannot be rotated or opened', async () => {
  const { store, signingKey, open } = await openRingFixture();
  await store.signingKeys.remove(signingKey.kid);
  await expect(rotateSigningKey(store, 0)).rejects.toThrow('Cannot sign tokens');
  await expect(open()).rejects.toThrow('Cannot sign tokens');
});
