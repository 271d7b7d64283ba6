import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { opened } from '../../support/opened.ts';
import { openSignIn, redirectUris, verifier } from '../sign-in-fixture.ts';
import { encode, type Page, type TestBrowser } from '../test-browser.ts';

const fixture = opened(openSignIn);

const day = 24 * 3_600_000;

function readCode({ status, location }: Page): string {
  expect(status).toBe(303);
  return location?.searchParams.get('code') ?? `no code: ${location?.search}`;
}

async function exchange(code: string, redirectUri: string = redirectUris.web): Promise<Response> {
  const body = encode({
    grant_type: 'authorization_code',
    client_id: fixture.clientId,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    code,
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return fetch(`http://${fixture.service.http}/connect/token`, { method: 'POST', headers, body });
}

async function signedIn(): Promise<TestBrowser> {
  const browser = fixture.newBrowser();
  readCode(await fixture.signIn(browser));
  return browser;
}

describe('a user who knows the password', () => {
  test('a client gets a code for its request after the user has signed in', async () => {
    const page = await fixture.signIn(fixture.newBrowser(), { nonce: 'n-0S6', scope: 'openid profile email' });
    expect(Object.fromEntries(page.location?.searchParams ?? [])).toEqual({
      from: 'flagmeter',
      code: expect.stringMatching(/^[\w-]{43}$/),
      state: 'st&te=1',
      iss: `http://${fixture.service.http}`,
    });
    const response = await exchange(readCode(page));
    const { scope, id_token } = (await response.json()) as { scope: string; id_token: string };
    expect(scope).toBe('openid email');
    expect(decodeJwt(id_token)).toMatchObject({
      aud: fixture.clientId,
      nonce: 'n-0S6',
      auth_time: Math.floor(fixture.clock.now() / 1000),
      email: fixture.admin.email,
    });
  });

  test('the e-mail address of a sign-in can be typed in any case, and with surrounding spaces', async () => {
    const person = { ...fixture.admin, email: ' aDA@eXAMPLE.COM ' };
    readCode(await fixture.signIn(fixture.newBrowser(), {}, person));
  });

  test('a sign-in renews the temporary id in the cookie of a browser, and keeps the permanent id', async () => {
    const browser = fixture.newBrowser();
    await browser.open(fixture.target());
    const [before, mark] = browser.cookie?.split('.') ?? [];
    await browser.submit({ ...fixture.admin });
    expect(browser.cookie?.split('.')[1]).toBe(mark);
    expect(browser.cookie?.split('.')[0]).not.toBe(before);
    browser.cookie = `${before}.${mark}`;
    expect((await browser.open(fixture.target())).status).toBe(200);
  });

  test('a client of another team gets no code, and the page shows an error', async () => {
    const browser = fixture.newBrowser();
    const page = await fixture.signIn(browser, {}, fixture.outsider);
    expect(page).toMatchObject({
      status: 403,
      error: 'outsider@example.com is not a member of the team that Shop &amp; Co belongs to. Use another account.',
    });
    const client_id = 'flagmeter-console';
    const redirect_uri = `http://${fixture.service.http}/console/callback`;
    readCode(await fixture.signIn(browser, { client_id, redirect_uri }, fixture.outsider));
    expect(await browser.open(fixture.target())).toMatchObject({ status: 403, error: page.error });
    const silent = await browser.open(fixture.target({ prompt: 'none' }));
    expect(silent.location?.searchParams.get('error')).toBe('login_required');
  });
});

describe('a user who does not know the password', () => {
  test('the sign-in page does not reveal whether an account exists', async () => {
    const pages = [];
    for (const email of [fixture.admin.email, 'nobody@example.com']) {
      const page = await fixture.signIn(fixture.newBrowser(), {}, { email, password: 'guessed' });
      pages.push(page.html.replaceAll(email, '').replace(/name="form" value="\w+"/, ''));
      expect(page).toMatchObject({ status: 403, error: 'The e-mail address or the password is wrong.' });
      expect(page.html).toContain(`value="${email}"`);
      expect(page.html).not.toContain('guessed');
    }
    expect(pages[0]).toBe(pages[1]);
  });

  test.each([
    [{ email: '', password: 'x' }],
    [{ email: ' ', password: 'x' }],
    [{ email: 'ada@example.com', password: '' }],
    [{ email: 'a'.repeat(321), password: 'x' }],
    [{}],
  ])('the sign-in form requires the e-mail address and the password: %j', async (fields) => {
    const browser = fixture.newBrowser();
    await browser.open(fixture.target());
    const page = await browser.submit(fields);
    expect(page).toMatchObject({ status: 400, error: 'Enter your e-mail address and your password.' });
  });

  test('a user can cancel the sign-in', async () => {
    const browser = fixture.newBrowser();
    await browser.open(fixture.target());
    const { location } = await browser.submit({ action: 'cancel' });
    expect(location?.searchParams.get('error')).toBe('access_denied');
  });
});

describe('a form that does not come from the page of this browser', () => {
  test.each([
    ['no cookie', undefined],
    ['the cookie of another browser', `flagmeter=${'a'.repeat(43)}.${'b'.repeat(43)}`],
    ['a malformed cookie', 'flagmeter=a.b'],
  ])('a sign-in form with %s is refused', async (_, cookie) => {
    const browser = fixture.newBrowser();
    await browser.open(fixture.target());
    browser.cookie = cookie;
    const page = await browser.submit({ ...fixture.admin });
    expect(page).toMatchObject({ status: 403, error: expect.stringContaining('out of date') });
    // The page in the response can be used immediately.
    readCode(await browser.submit({ ...fixture.admin }));
  });

  test.each([undefined, '', 'x', '0'.repeat(64)])('a sign-in form with the form token %j is refused', async (form) => {
    const browser = fixture.newBrowser();
    await browser.open(fixture.target());
    expect(await browser.submit({ ...fixture.admin, form })).toMatchObject({ status: 403 });
  });

  test('a form that was made before a user signed in is refused after the sign-in', async () => {
    const browser = fixture.newBrowser();
    await browser.open(fixture.target());
    const old = /name="form" value="([^"]*)"/.exec((await browser.open(fixture.target())).html)?.[1];
    await browser.submit({ ...fixture.admin });
    expect(await browser.submit({ action: 'continue', form: old })).toMatchObject({ status: 403 });
  });

  test.each<[Record<string, string>, number]>([
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, 303],
    [{ 'sec-fetch-site': 'none' }, 303],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'rubbish' }, 403],
    [{ origin: 'null' }, 303],
  ])('a sign-in form with the headers %j gets the status %d', async (headers, status) => {
    const browser = fixture.newBrowser();
    await browser.open(fixture.target());
    expect((await browser.submit({ ...fixture.admin }, headers)).status).toBe(status);
  });
});

describe('a browser with a signed-in user', () => {
  test('a signed-in browser gets the next code without a page, also with prompt=none', async () => {
    const browser = await signedIn();
    for (const prompt of [undefined, 'none'])
      expect((await exchange(readCode(await browser.open(fixture.target({ prompt }))))).status).toBe(200);
  });

  test('the sign-in page asks for the password again if the client demands a new sign-in', async () => {
    const browser = await signedIn();
    for (const parameters of [{ prompt: 'login' }, { prompt: 'login consent' }, { max_age: '0' }]) {
      const page = await browser.open(fixture.target(parameters));
      expect(page.html).toContain(`value="${fixture.admin.email}"`);
      expect(page).toMatchObject({ status: 200, html: expect.stringContaining('type="password"') });
      readCode(await browser.submit({ ...fixture.admin }));
    }
    const silent = await browser.open(fixture.target({ prompt: 'none', max_age: '0' }));
    expect(silent.location?.searchParams.get('error')).toBe('login_required');
  });

  test.each([
    { prompt: 'consent' },
    { prompt: 'select_account' },
    { redirect_uri: 'http://127.0.0.1:4711/callback' },
    { redirect_uri: redirectUris.app },
  ])('a signed-in user must confirm a request with the parameters %j', async (parameters) => {
    const browser = await signedIn();
    const page = await browser.open(fixture.target(parameters));
    expect(page).toMatchObject({ status: 200, html: expect.stringContaining('Continue to Shop &amp; Co?') });
    expect(page.html).toContain(`You are signed in as <strong>${fixture.admin.email}</strong>`);
    expect((await browser.submit({ action: 'cancel' })).location?.searchParams.get('error')).toBe('access_denied');
    expect((await browser.submit({ action: 'switch' })).html).toContain('type="password"');
    const code = readCode(await browser.submit({ action: 'continue' }));
    expect((await exchange(code, parameters.redirect_uri)).status).toBe(200);
    const silent = await browser.open(fixture.target({ ...parameters, prompt: 'none' }));
    const error = parameters.redirect_uri === undefined ? null : 'interaction_required';
    expect(silent.location?.searchParams.get('error')).toBe(error);
  });

  test('a user cannot confirm a request after the sign-in has ended', async () => {
    const browser = await signedIn();
    await browser.open(fixture.target({ prompt: 'consent' }));
    fixture.clock.advance(day / 2);
    expect((await browser.submit({ action: 'continue' })).html).toContain('type="password"');
  });

  test('a user stays signed in for twelve hours after the last authorization request', async () => {
    const browser = await signedIn();
    for (let use = 0; use < 3; use++) {
      fixture.clock.advance(day / 2 - 1);
      readCode(await browser.open(fixture.target()));
    }
    fixture.clock.advance(day / 2);
    expect((await browser.open(fixture.target())).status).toBe(200);
  });

  test('a user stays signed in for a week at most', async () => {
    const browser = await signedIn();
    for (let use = 0; use < 20; use++) {
      fixture.clock.advance(day / 3);
      readCode(await browser.open(fixture.target()));
    }
    fixture.clock.advance(day / 3);
    expect((await browser.open(fixture.target())).status).toBe(200);
  });
});

describe('a restarted service', () => {
  test('a restarted service keeps users signed in, and its audit log still contains the earlier sign-ins', async () => {
    const before = await openSignIn();
    const browser = before.newBrowser('127.0.0.9');
    await before.signIn(browser, {}, { ...before.admin, password: 'wrong' });
    await before.signIn(browser, {}, { email: 'secret-typed-in-the-wrong-field', password: 'x' });
    await before.signIn(browser, {}, before.outsider);
    await before.signIn(browser);
    const after = await before.restart();
    const again = after.newBrowser();
    again.cookie = browser.cookie;
    expect((await again.open(after.target())).location?.searchParams.has('code')).toBe(true);
    const lines = (await after.audit()).filter(({ action }) => action.startsWith('sign-in.'));
    // The actions of the other user are in the audit log of another team.
    expect(lines.map(({ action, actor, target }) => [action, actor.name, target.name])).toEqual([
      ['sign-in.succeeded', 'Ada@Example.com', 'Ada@Example.com'],
      ['sign-in.failed', '', ''],
      ['sign-in.failed', '', 'Ada@Example.com'],
    ]);
    expect(new Set(lines.map(({ actor }) => actor.address))).toEqual(new Set(['127.0.0.9']));
    expect(after.service.log()).not.toMatch(/secret-typed|Ada@|engine/);
    await after.service.stop();
  });

  test('a user whose password has changed is signed out', async () => {
    const service = await openSignIn();
    const browser = service.newBrowser();
    await service.signIn(browser);
    await service.changePassword('another password');
    expect((await browser.open(service.target())).status).toBe(200);
    expect((await service.signIn(browser)).status).toBe(403);
    await service.service.stop();
  });
});
