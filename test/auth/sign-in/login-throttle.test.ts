import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { AccountStore } from '../../../src/accounts/store/account-store.ts';
import { EmbeddedAccountStore } from '../../../src/accounts/store/embedded.ts';
import { renewBrowser } from '../../../src/auth/cookies/browser.ts';
import {
  type Attempt,
  type CountedAttempt,
  countAttempt,
  forgiveAttempt,
  isThrottleOver,
  type ThrottleDeps,
} from '../../../src/auth/factors/login-throttle.ts';
import type { AccountTables } from '../../../src/storage/lmdb/accounts.ts';
import { openTestStore, type TestClock, testClock, testHealth } from '../../accounts/fixture.ts';
import { openSignIn } from '../sign-in-fixture.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

interface ThrottleFixture extends ThrottleDeps {
  readonly store: AccountTables;
  readonly accountStore: AccountStore;
  readonly clock: TestClock;
}

function openThrottles(): ThrottleFixture {
  const store = openTestStore();
  return { store, accountStore: new EmbeddedAccountStore(store, testHealth()), clock: testClock() };
}

function attempt(fields: Partial<Attempt> = {}): Attempt {
  const browser = renewBrowser(undefined, randomBytes);
  return { email: 'ada@example.com', address: '192.0.2.1', browser, ...fields };
}

/** Makes failing attempts until an attempt must wait. Returns the number of failures and the wait in seconds. */
async function failOn(
  fixture: ThrottleFixture,
  next: (count: number) => Attempt,
): Promise<{ count: number; wait: number }> {
  for (let count = 0; count < 1000; count++) {
    const { wait } = await countAttempt(fixture, next(count));
    if (wait > 0) return { count, wait };
  }
  throw new Error('nothing ended it');
}

/** Makes failing attempts until `times` attempts had to wait. Returns the waits in seconds. */
async function measureWaits(
  fixture: ThrottleFixture,
  next: (count: number) => Attempt,
  times: number,
): Promise<number[]> {
  const waits: number[] = [];
  for (let time = 0; time < times; time++) {
    const { wait } = await failOn(fixture, (count) => next(time * 1000 + count));
    fixture.clock.advance(wait * 1000);
    waits.push(wait);
  }
  return waits;
}

async function succeed(fixture: ThrottleFixture, own: Attempt): Promise<void> {
  const counted: CountedAttempt = await countAttempt(fixture, own);
  await forgiveAttempt(fixture, own, counted);
}

describe('countAttempt for one account from one address', () => {
  test('an address must wait after five failures at one account: first 5 seconds, at most 15 minutes', async () => {
    const fixture = openThrottles();
    expect((await failOn(fixture, () => attempt())).count).toBe(5);
    expect(await measureWaits(fixture, () => attempt(), 10)).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 900, 900]);
  });

  test('a sign-in attempt during a wait does not count as a failure', async () => {
    const fixture = openThrottles();
    await failOn(fixture, () => attempt());
    for (let again = 0; again < 100; again++) expect((await countAttempt(fixture, attempt())).wait).toBe(5);
    fixture.clock.advance(4999);
    expect((await countAttempt(fixture, attempt())).wait).toBe(1);
    fixture.clock.advance(1);
    expect((await countAttempt(fixture, attempt())).wait).toBe(0);
  });

  test('a throttle ignores the case of the e-mail address and the last 64 bits of an IPv6 address', async () => {
    const fixture = openThrottles();
    const names = ['ada@example.com', 'ADA@example.com'];
    const found = await failOn(fixture, (count) =>
      attempt({ email: names[count % 2] ?? '', address: `2001:db8:1:2:${count.toString(16)}::1` }),
    );
    expect(found.count).toBe(5);
    expect((await countAttempt(fixture, attempt({ address: '2001:db8:1:3::1' }))).wait).toBe(0);
  });

  test('failures at an account from one address do not throttle another address or another account', async () => {
    const fixture = openThrottles();
    await failOn(fixture, () => attempt());
    expect((await countAttempt(fixture, attempt({ address: '192.0.2.2' }))).wait).toBe(0);
    expect((await countAttempt(fixture, attempt({ email: 'bob@example.com' }))).wait).toBe(0);
  });

  test('a throttled user does not wait longer after the clock is set back', async () => {
    const fixture = openThrottles();
    await failOn(fixture, () => attempt());
    fixture.clock.advance(-day);
    expect((await countAttempt(fixture, attempt())).wait).toBe(5);
  });
});

test('an address must wait after failures at fifty accounts: first 1 second, at most 1 minute', async () => {
  const fixture = openThrottles();
  const next = (count: number) => attempt({ email: `${count}@example.com` });
  expect((await failOn(fixture, next)).count).toBe(50);
  expect(await measureWaits(fixture, (count) => next(count + 50), 8)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
});

test('sign-ins at an account must wait after failures from fifty addresses: first 5 seconds, at most 5 minutes', async () => {
  const fixture = openThrottles();
  const next = (count: number) => attempt({ address: `10.0.${count >> 8}.${count & 255}` });
  expect((await failOn(fixture, next)).count).toBe(50);
  expect(await measureWaits(fixture, (count) => next(count + 50), 8)).toEqual([5, 10, 20, 40, 80, 160, 300, 300]);
});

describe('a successful attempt', () => {
  test('successful attempts do not count as failures of the account or the address', async () => {
    const fixture = openThrottles();
    for (let round = 0; round < 60; round++) {
      const own = attempt({ email: 'own@example.com' });
      await succeed(fixture, own);
    }
    const next = (count: number) => attempt({ email: `${count}@example.com` });
    expect((await failOn(fixture, next)).count).toBe(50);
  });

  test('failures of other browsers do not delay a browser that has signed in', async () => {
    const fixture = openThrottles();
    const own = attempt();
    await succeed(fixture, own);
    const next = (count: number) => attempt({ address: `10.0.${count >> 8}.${count & 255}` });
    await failOn(fixture, next);
    await failOn(fixture, () => attempt());
    expect((await countAttempt(fixture, attempt())).wait).toBeGreaterThan(0);
    expect((await countAttempt(fixture, own)).wait).toBe(0);
    expect((await countAttempt(fixture, { ...own, address: '198.51.100.7' })).wait).toBe(0);
    // The browser is unknown for another account.
    await failOn(fixture, () => attempt({ email: 'bob@example.com' }));
    expect((await countAttempt(fixture, { ...own, email: 'bob@example.com' })).wait).toBeGreaterThan(0);
  });

  test('a browser that has signed in must wait after five failures of its own', async () => {
    const fixture = openThrottles();
    const own = attempt();
    await succeed(fixture, own);
    expect(await failOn(fixture, () => own)).toEqual({ count: 5, wait: 5 });
  });
});

describe('a stored throttle', () => {
  test('a stored throttle contains no names or addresses', async () => {
    const fixture = openThrottles();
    await countAttempt(fixture, attempt());
    const keys = [...fixture.store.loginThrottles.getKeys()];
    expect(keys).toHaveLength(3);
    for (const key of keys) expect(key).toMatch(/^(pair|address|account)\.[0-9a-f]{64}$/);
  });

  test.each([
    ['pair.x', 4, 60 * minute],
    ['pair.x', 5, day],
    ['account.x', 49, 60 * minute],
    ['address.x', 50, day],
    ['browser.x', 0, 90 * day],
  ])('the throttle %s with %d failures expires after %d ms', (key, failures, ms) => {
    expect(isThrottleOver(key, { failures, lastAt: 1000 }, 999 + ms)).toBe(false);
    expect(isThrottleOver(key, { failures, lastAt: 1000 }, 1000 + ms)).toBe(true);
  });

  test('an expired throttle has no effect, even before the next sweep', async () => {
    const fixture = openThrottles();
    await failOn(fixture, () => attempt());
    fixture.clock.advance(day);
    expect((await failOn(fixture, () => attempt())).count).toBe(5);
  });
});

describe('the sign-in page', () => {
  test('the sign-in page makes a throttled user wait, even with the right password and after a restart', async () => {
    const before = await openSignIn();
    const wrong = { ...before.admin, password: 'wrong' };
    const browser = before.newBrowser();
    for (let failure = 0; failure < 5; failure++) expect((await before.signIn(browser, {}, wrong)).status).toBe(403);
    const fixture = await before.restart();
    const text = 'Too many attempts have failed. Try again in 5 seconds.';
    for (const person of [wrong, fixture.admin]) {
      const page = await fixture.signIn(fixture.newBrowser(), {}, person);
      expect(page).toMatchObject({ status: 429, error: text, headers: { 'retry-after': '5' } });
    }
    const elsewhere = fixture.newBrowser('127.0.0.2');
    expect((await fixture.signIn(elsewhere)).status).toBe(303);
    // The browser is known now, and can sign in from any address.
    const moved = fixture.newBrowser();
    moved.cookie = elsewhere.cookie;
    expect((await fixture.signIn(moved, { prompt: 'login' })).status).toBe(303);
    fixture.clock.advance(5000);
    expect((await fixture.signIn(fixture.newBrowser(), {}, wrong)).status).toBe(403);
    fixture.clock.advance(500_000);
    for (let failure = 0; failure < 6; failure++) {
      fixture.clock.advance(900_000);
      await fixture.signIn(fixture.newBrowser(), {}, wrong);
    }
    const page = await fixture.signIn(fixture.newBrowser(), {}, wrong);
    expect(page.error).toBe('Too many attempts have failed. Try again in 11 minutes.');
    await fixture.service.stop();
  });

  test('concurrent sign-in attempts cannot exceed the limit of failures, even for an unknown account', async () => {
    const fixture = await openSignIn();
    for (const email of [fixture.admin.email, 'nobody@example.com']) {
      const browsers = Array.from({ length: 20 }, () => fixture.newBrowser());
      const pages = await Promise.all(
        browsers.map((browser) => fixture.signIn(browser, {}, { email, password: 'wrong' })),
      );
      expect(pages.filter(({ status }) => status === 403)).toHaveLength(5);
      expect(pages.filter(({ status }) => status === 429)).toHaveLength(15);
    }
    await fixture.service.stop();
  });
});
