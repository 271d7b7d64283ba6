import { describe, expect, test } from 'vitest';
import { openSignIn } from '../../auth/sign-in-fixture.ts';
import { opened } from '../../support/opened.ts';
import { ConsoleBrowser } from './console-browser.ts';
import { expiry, hourMs, listSignIns, openConsole, readUserId } from './console-fixture.ts';

const fixture = opened(openConsole);

describe('signing out', () => {
  test('signing out ends the session in all tabs, and also ends the sign-in at the auth host', async () => {
    const browser = await fixture.signedIn();
    const other = new Map(browser.cookies);
    const response = await browser.ask('DELETE', '/console/session');
    expect(response.status).toBe(204);
    expect(browser.session).toBeUndefined();
    for (const [name, value] of other) browser.cookies.set(name, value);
    expect(await browser.status()).toBe(401);
    expect(await browser.who()).toBeNull();
    expect((await browser.go(await browser.begin())).status).toBe(200); // The auth host shows the sign-in page again.
    expect((await fixture.audit())[0]).toMatchObject({ action: 'session.ended' });
  });

  test('signing out ends all sessions of the browser, but not the sessions of other browsers', async () => {
    const browser = await fixture.signedIn();
    const elsewhere = await fixture.signedIn();
    const [name, first] = browser.session!;
    await browser.signIn(fixture.admin);
    expect((await browser.ask('DELETE', '/console/session')).status).toBe(204);
    browser.cookies.set(name, first);
    expect(await browser.status()).toBe(401);
    expect(await elsewhere.status()).toBe(200);
  });

  test('a second sign-out succeeds too, but a sign-out request from another page is refused', async () => {
    const browser = await fixture.signedIn();
    for (let times = 0; times < 2; times += 1)
      expect((await browser.ask('DELETE', '/console/session')).status).toBe(204);
    const victim = await fixture.signedIn();
    const headers = { 'sec-fetch-site': 'same-site' };
    expect((await victim.ask('DELETE', '/console/session', { headers })).status).toBe(401);
    expect(await victim.status()).toBe(200);
  });
});

describe('the session', () => {
  test.each<readonly [what: string, end: (browser: ConsoleBrowser, id: string) => Promise<unknown>]>([
    ['when its user gets a new password', () => fixture.changePassword(fixture.admin.password)],
    [
      'when the browser signs out at the auth host',
      (browser) => browser.go('/connect/endsession', { headers: { origin: 'null' } }, 'POST'),
    ],
    [
      'when an Admin ends its sign-in in the list of sessions',
      async (browser, id) => {
        const { signIn } = (await listSignIns(browser)).find(({ current }) => current)!;
        await fixture.asKey('DELETE', `/api/v2/users/${id}/sessions/${signIn}`, 204);
      },
    ],
  ])('a session ends %s', async (_, end) => {
    const browser = await fixture.signedIn();
    await end(browser, await readUserId(browser));
    expect(await browser.status()).toBe(401);
    expect(await browser.who()).toBeNull();
  });

  test('a session ends when its user is deleted', async () => {
    const person = { email: 'gone@example.com', password: 'a password of theirs' };
    await fixture.asKey('POST', '/api/v2/users', 201, { ...person, name: 'Gone' });
    const browser = await fixture.signedIn(person);
    await fixture.asKey('DELETE', `/api/v2/users/${await readUserId(browser)}`, 204);
    expect(await browser.status()).toBe(401);
    expect(await browser.who()).toBeNull();
  });

  test('a session ends twelve hours after its last use, which is stored with a precision of five minutes', async () => {
    const browser = await fixture.signedIn();
    for (let times = 0; times < 3; times += 1) {
      fixture.clock.advance(11.9 * hourMs);
      expect(await browser.status()).toBe(200);
      await until(async () => (await expiry(browser)) === fixture.clock.now() + 12 * hourMs);
    }
    const end = await expiry(browser);
    fixture.clock.advance(5 * 60_000 - 1);
    expect(await browser.status()).toBe(200);
    expect(await expiry(browser)).toBe(end);
    fixture.clock.advance(end - fixture.clock.now());
    expect(await browser.status()).toBe(401);
    expect(await browser.who()).toBeNull();
  });

  test('a session ends a week after the sign-in, even if it is used', async () => {
    const browser = await fixture.signedIn();
    const end = Math.floor(fixture.clock.now() / 1000) * 1000 + 7 * 24 * hourMs;
    while (fixture.clock.now() + 11 * hourMs < end) {
      fixture.clock.advance(11 * hourMs);
      expect(await browser.status()).toBe(200);
      const wanted = Math.min(fixture.clock.now() + 12 * hourMs, end);
      await until(async () => (await expiry(browser)) === wanted);
    }
    fixture.clock.advance(end - fixture.clock.now() - 1);
    expect(await browser.status()).toBe(200);
    fixture.clock.advance(1);
    expect(await browser.status()).toBe(401);
  });

  test('a session survives a restart of the server', async () => {
    const args = ['--base-url', 'https://console.example', '--auth-url', 'https://auth.example'];
    const before = await openSignIn({ args });
    const browser = new ConsoleBrowser(before.service);
    await browser.signIn(before.admin);
    const after = await before.restart();
    const again = new ConsoleBrowser(after.service);
    for (const [name, value] of browser.cookies) again.cookies.set(name, value);
    expect(await again.who()).toBe(before.admin.email);
    await after.service.stop();
  });
});

/** Repeats a check until a background write has taken effect. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds()));
}
