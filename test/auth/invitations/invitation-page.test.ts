import { beforeAll, describe, expect, test } from 'vitest';
import { manage, token } from '../../support/binary.ts';
import { opened } from '../../support/opened.ts';
import { openSignIn } from '../sign-in-fixture.ts';
import type { Page, TestBrowser } from '../test-browser.ts';

const fixture = opened(openSignIn);
let access: string;
beforeAll(async () => {
  access = await token(fixture.service.http, fixture.service.credentials);
});

const call = (method: string, path: string, status: number, body?: object) =>
  manage(fixture.service.http, access, method, `/api/v2${path}`, status, body);

let people = 0;

async function invite() {
  const email = `guest${++people}@example.com`;
  const made = await call('POST', '/users', 201, { email, name: 'Grace <b>' });
  const { id, invitation } = made as { id: string; invitation: { url: string } };
  return { id, email, url: invitation.url, secret: new URL(invitation.url).hash.slice(1) };
}

async function openPage(address?: string): Promise<TestBrowser> {
  const browser = fixture.newBrowser(address);
  await browser.open('/connect/invitation');
  return browser;
}

const password = 'the first compiler';

const accept = (browser: TestBrowser, secret: string, chosen = password, again = chosen) =>
  browser.submit({ action: 'accept', token: secret, password: chosen, again });

const over = expect.stringContaining('This link is not valid.');

/** True if a page redirects to the console, and the browser is signed in. */
async function entersConsole(browser: TestBrowser, { status, location }: Page): Promise<boolean> {
  if (status !== 303 || location?.pathname !== '/console/sign-in') return false;
  const response = await browser.open(fixture.target());
  return response.location?.searchParams.has('code') ?? false;
}

describe('the page for invitation links', () => {
  test('the page for invitation links contains no secret, allows only its own script, and is not cached', async () => {
    const { status, headers, html } = await fixture.newBrowser().open('/connect/invitation');
    expect(status).toBe(200);
    expect(html).toContain('<h1>Open your link</h1>');
    expect(html.match(/<script>/g)).toHaveLength(1);
    const policy = headers['content-security-policy'];
    expect(policy).toMatch(/^default-src 'none'; .*script-src 'sha256-[\w+/]{43}='; /);
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  });

  test.each([
    ['the link', ({ url }: { url: string }) => url],
    ['the secret of the link', ({ secret }: { secret: string }) => ` ${secret} `],
  ])('the page for invitation links accepts %s, and shows the invited user and the team', async (_, typed) => {
    const guest = await invite();
    const browser = await openPage();
    const { status, html } = await browser.submit({ action: 'open', token: typed(guest) });
    expect(status).toBe(200);
    expect(html).toContain('<h1>Accept your invitation</h1>');
    expect(html).toContain('Grace &lt;b&gt;, you are invited to <strong>Default</strong>.');
    expect(html).toContain(`<strong>${guest.email}</strong>`);
    expect(html).not.toContain('<script>');
  });

  test('an invitation link sets the password and signs the user in to the console', async () => {
    const { id, email, secret } = await invite();
    const browser = await openPage();
    expect(await entersConsole(browser, await accept(browser, secret))).toBe(true);
    expect(await call('GET', `/users/${id}`, 200)).toMatchObject({ invitation: null });
    const page = await fixture.signIn(fixture.newBrowser(), {}, { email, password });
    expect(page.location?.searchParams.get('code')).toBeTruthy();
    const own = (await fixture.audit()).filter(({ target }) => target.id === id);
    expect(own.map(({ action, factors }) => [action, factors])).toEqual([
      ['sign-in.succeeded', ['password']],
      ['sign-in.succeeded', ['invitation', 'password']],
      ['user.password-changed', ['invitation']],
      ['invitation.accepted', ['invitation']],
      ['invitation.created', undefined],
      ['user.created', undefined],
    ]);
  });

  test('only one of two concurrent browsers can use an invitation link', async () => {
    const { secret } = await invite();
    const browsers = [await openPage(), await openPage()];
    const both = await Promise.all(browsers.map((browser) => accept(browser, secret)));
    expect(both.map(({ status }) => status).sort()).toEqual([303, 403]);
    expect(both.find(({ status }) => status === 403)).toMatchObject({ error: over });
  });

  test('an invitation link remains valid after a rejected password', async () => {
    const { email, secret } = await invite();
    const browser = await openPage();
    for (const [chosen, again, error] of [
      ['eleven char', undefined, 'at least 12 characters'],
      ['Password1234', undefined, 'most common passwords'],
      [`x ${email}`, undefined, 'e-mail address'],
      [password, `${password}!`, 'The two passwords differ'],
    ] as const) {
      const page = await accept(browser, secret, chosen, again);
      expect(page).toMatchObject({ status: 400, error: expect.stringContaining(error) });
      expect(page.html).toContain('<h1>Accept your invitation</h1>');
    }
    expect((await accept(browser, secret)).status).toBe(303);
  });

  test('rejects an invitation link that was used, replaced or withdrawn, or has expired', async () => {
    const used = await invite();
    const replaced = await invite();
    const withdrawn = await invite();
    const expired = await invite();
    expect((await accept(await openPage(), used.secret)).status).toBe(303);
    await call('POST', `/users/${replaced.id}/reset-link`, 200, {});
    await call('DELETE', `/users/${withdrawn.id}/reset-link`, 204);
    const browser = await openPage();
    for (const { secret } of [used, replaced, withdrawn])
      for (const action of ['open', 'accept'])
        expect(await browser.submit({ action, token: secret, password, again: password })).toMatchObject({
          status: 403,
          error: over,
        });
    expect((await browser.submit({ action: 'open', token: expired.secret })).status).toBe(200);
    fixture.clock.advance(7 * 24 * 3_600_000);
    access = await token(fixture.service.http, fixture.service.credentials);
    expect(await accept(browser, expired.secret)).toMatchObject({ status: 403, error: over });
  });

  test('rejects the form of an invitation link that was made for another browser', async () => {
    const { secret } = await invite();
    const browser = await openPage();
    browser.cookie = (await openPage()).cookie;
    const page = await accept(browser, secret);
    expect(page).toMatchObject({ status: 403, error: expect.stringContaining('out of date') });
    expect((await accept(browser, secret)).status).toBe(303);
  });

  test('guesses of invitation links throttle the address of the sender, but no other address', async () => {
    const { secret } = await invite();
    const browser = await openPage('127.0.0.77');
    let status = 403;
    for (let guess = 0; guess < 60 && status === 403; guess += 1) {
      const wrong = `${'A'.repeat(40)}${String(guess).padStart(3, '0')}`;
      ({ status } = await browser.submit({ action: 'open', token: wrong }));
    }
    const throttled = await accept(browser, secret);
    expect(throttled).toMatchObject({ status: 429, error: expect.stringContaining('Too many attempts') });
    expect(Number(throttled.headers['retry-after'])).toBeGreaterThan(0);
    expect((await accept(await openPage(), secret)).status).toBe(303);
  });
});

test('a reset link ends the sessions only when the link is used', async () => {
  const { id, email, secret } = await invite();
  const first = await openPage();
  await accept(first, secret);
  const made = await call('POST', `/users/${id}/reset-link`, 200, {});
  expect((await fixture.signIn(fixture.newBrowser(), {}, { email, password })).status).toBe(303);
  const browser = await openPage();
  const { url } = made as { url: string };
  expect((await browser.submit({ action: 'open', token: url })).html).toContain('<h1>Choose a new password</h1>');
  expect(await entersConsole(browser, await accept(browser, url, 'the second compiler'))).toBe(true);
  expect((await first.open(fixture.target())).html).toContain('<h1>Sign in</h1>');
  expect((await fixture.signIn(fixture.newBrowser(), {}, { email, password })).status).toBe(403);
});
