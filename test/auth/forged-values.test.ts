import { afterEach, beforeAll, describe, expect, it, test } from 'vitest';
import { opened } from '../support/opened.ts';
import { redirectUris } from './sign-in-fixture.ts';
import { CookieBrowser } from './sso/cookie-browser.ts';
import { openSso } from './sso/sso-fixture.ts';
import { appCode, secretField } from './support/enrolment.ts';

/*
 * Tests of forged cookies and hidden fields. docs/contributing/security.md lists the values. The challenge of
 * a passkey is tested in test/auth/factors.
 */

const sso = opened(() => openSso({ createUsers: false }));
let adminId: string;
beforeAll(async () => {
  const { items } = await sso.call<{ items: { id: string; email: string }[] }>('GET', '/users', 200);
  adminId = items.find(({ email }) => email === sso.admin.email)!.id;
});
afterEach(() => sso.provider.reset());

const readHeading = (html = '') => /<h1>([^<]*)</.exec(html)?.[1];
const readText = async (response: Response | undefined) => (await response?.text()) ?? '';
const formIn = (html: string) => /name="form" value="([^"]*)"/.exec(html)?.[1] ?? '';
const listIdentities = (id: string) => sso.call('GET', `/users/${id}/identities`, 200);

async function post(browser: CookieBrowser, path: string, fields: Readonly<Record<string, string>>) {
  const page = `${sso.url}${path}`;
  const form = formIn(await readText(await browser.send(page)));
  return browser.send(page, { method: 'POST', body: new URLSearchParams({ form, ...fields }) });
}

async function signedIn(): Promise<CookieBrowser> {
  const browser = new CookieBrowser();
  const { last } = await browser.follow(`${sso.url}/console/sign-in`, () => false);
  const response = await post(browser, `${last.pathname}${last.search}`, { ...sso.admin, action: 'sign-in' });
  await browser.follow(response.headers.get('location')!, ({ pathname }) => pathname === '/');
  return browser;
}

const ownPage = { 'flagmeter-console': '1', 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };

/** Makes an API key, which needs a recent sign-in. */
async function makeKey(browser: CookieBrowser): Promise<number> {
  const body = JSON.stringify({ name: 'Made with the console', role: 'Admin' });
  const path = `/api/v2/teams/${sso.teamId}/api-keys`;
  return (await browser.send(`${sso.url}${path}`, { method: 'POST', headers: ownPage, body })).status;
}

/** Changes the value of a cookie and removes its HMAC, as in a cookie of an earlier release. */
const without = (change: object) => (value: string) => {
  const kept = JSON.parse(Buffer.from(value.split('.')[0]!, 'base64url').toString()) as object;
  return Buffer.from(JSON.stringify({ ...kept, ...change })).toString('base64url');
};
/** Changes the value of a cookie, but keeps the HMAC of the unchanged value. */
const withCode = (change: object) => (value: string) => `${without(change)(value)}.${value.split('.')[1]}`;

const flipped = (text: string) => (text.startsWith('A') ? 'B' : 'A') + text.slice(1);

describe('an old session of an Admin', () => {
  it.each([
    ['without an HMAC', without],
    ['with the HMAC of the original value', withCode],
  ])('a forged cookie %s links no account and renews no session', async (_how, forge) => {
    const browser = await signedIn();
    sso.clock.advance(901_000);
    expect(await makeKey(browser)).toBe(401);
    sso.provider.behaviour.claims = { sub: 'mallory', email: 'mallory@example.com' };
    const callback = await sso.begin(browser);
    const signIn = await findSignIn(browser);
    browser.forge('flagmeter-sso', forge({ page: 'identities', query: '', linkTo: signIn, maxAge: null }));
    expect(await sso.finish(browser, callback)).toMatchObject({ code: null, status: 400 });
    expect(await listIdentities(adminId)).toMatchObject({ items: [] });
    expect((await sso.enter()).reason).toBe('user_unknown');
    await browser.follow(`${sso.url}/console/sign-in`, ({ pathname }) => pathname === '/');
    expect(await makeKey(browser)).toBe(401);
  });

  /** Finds the key of the browser's sign-in in the list of sessions. */
  async function findSignIn(browser: CookieBrowser): Promise<string> {
    const response = await browser.send(`${sso.url}/api/v2/users/${adminId}/sessions`, { headers: ownPage });
    const { items } = (await response.json()) as { items: { signIn: string; current: boolean }[] };
    return items.find(({ current }) => current)!.signIn;
  }
});

describe('a forged cookie', () => {
  const fields = {
    provider: 'provider_other',
    state: 'x'.repeat(43),
    nonce: 'x'.repeat(43),
    verifier: 'x'.repeat(43),
    maxAge: null,
    page: 'device',
    query: 'changed',
    link: 'x'.repeat(43),
    linkTo: 'x'.repeat(64),
    startedAt: () => sso.clock.now() - 1,
  };

  it.each(Object.entries(fields))(
    'the callback refuses a cookie in which the field %s is changed',
    async (name, value) => {
      const browser = new CookieBrowser();
      const callback = await sso.begin(browser, { max_age: '900' });
      const before = sso.provider.requested.length;
      const forged = typeof value === 'function' ? value() : value;
      browser.forge('flagmeter-sso', withCode({ [name]: forged }));
      expect(await sso.finish(browser, callback)).toMatchObject({ code: null, status: 400 });
      expect(sso.provider.requested).toHaveLength(before);
    },
  );

  it('the callback refuses a cookie that was issued to another browser', async () => {
    const attacker = new CookieBrowser();
    const victim = await signedIn();
    const callback = await sso.begin(attacker);
    victim.steal('flagmeter-sso', attacker);
    expect(await sso.finish(victim, callback)).toMatchObject({ code: null, status: 400 });
  });

  it('a forged cookie cannot redirect a user after a sign-out at a provider', async () => {
    await sso.configure({ createUsers: true, defaultTeam: sso.teamId });
    const uri = redirectUris.web;
    const out = `/connect/endsession?${new URLSearchParams({ client_id: sso.clientId, post_logout_redirect_uri: uri })}`;
    const signOut = async () => {
      const { browser } = await sso.enter();
      const response = await browser.send(`${sso.url}${out}`, { method: 'POST' });
      const state = new URL(response.headers.get('location')!).searchParams.get('state')!;
      return { browser, back: `${sso.url}/connect/signed-out?${new URLSearchParams({ state })}` };
    };
    const honest = await signOut();
    expect((await honest.browser.send(honest.back)).headers.get('location')).toContain(uri);
    for (const change of [{ uri: redirectUris.loopback }, { clientState: 'forged' }]) {
      const { browser, back } = await signOut();
      browser.forge('flagmeter-signed-out', withCode(change));
      expect(readHeading(await readText(await browser.send(back)))).toBe('You are signed out');
    }
    await sso.configure({ createUsers: false, defaultTeam: null });
  });

  it('the sign-in page does not accept a forged cookie', async () => {
    const browser = await signedIn();
    browser.forge(' flagmeter', (value) => (value.length === 87 ? flipped(value) : value));
    const silent = await browser.send(`${sso.url}${sso.target({ prompt: 'none' })}`);
    expect(silent.headers.get('location')).toContain('error=login_required');
  });

  it('the callback of the console refuses a forged cookie or state', async () => {
    const browser = new CookieBrowser();
    const { last } = await browser.follow(`${sso.url}/console/sign-in?return=/`, ({ pathname }) =>
      pathname.endsWith('/authorize'),
    );
    const [id, code, path] = last.searchParams.get('state')!.split('.');
    const finish = (state: string) =>
      browser.send(`${sso.url}/console/callback?${new URLSearchParams({ state, code: 'x', iss: sso.url })}`);
    const other = Buffer.from('.example.com/').toString('base64url');
    for (const state of [`${id}.${code}.${other}`, `${id}.${flipped(code!)}.${path}`])
      expect(await readText(await finish(state))).toContain('was started in another browser');
    browser.forge('flagmeter-sign-in', flipped);
    const refused = await finish(`${id}.${code}.${path}`);
    expect(await readText(refused)).toContain('was started in another browser');
  });

  it('a forged cookie does not open a session of the console', async () => {
    const browser = await signedIn();
    const session = async () =>
      (await (await browser.send(`${sso.url}/console/session`, { headers: ownPage })).json()) as object;
    expect(await session()).toMatchObject({ user: { id: adminId } });
    browser.forge('flagmeter-console', (value) => `${value.split('.')[0]}.${'x'.repeat(43)}`);
    expect(await session()).toMatchObject({ user: null });
  });
});

describe('a forged hidden field', () => {
  test('a forged form token is refused', async () => {
    const browser = new CookieBrowser();
    const refused = await post(browser, sso.target(), { ...sso.admin, form: 'f'.repeat(64) });
    expect(refused.status).toBe(403);
    expect(await readText(refused)).toContain('This page is out of date');
  });

  test('a forged secret of an invitation link is refused', async () => {
    const refused = await post(new CookieBrowser(), '/connect/invitation', {
      token: 'x'.repeat(43),
      action: 'accept',
      password: 'the words of a forger',
      again: 'the words of a forger',
    });
    expect(refused.status).toBe(403);
  });

  test.each([
    ['without an HMAC', () => 'A'.repeat(32)],
    ['with the HMAC of another key', (field: string) => `${'A'.repeat(32)}.${field.split('.')[1]}`],
  ])('the secret of an authenticator app %s is refused', async (_how, forge) => {
    const page = '/connect/authenticator';
    const browser = new CookieBrowser();
    const shown = await post(browser, page, { ...sso.admin, action: 'sign-in' });
    const secret = forge(secretField(await readText(shown)));
    const code = appCode(secret, sso.clock.now());
    const again = await post(browser, page, { action: 'enrol', secret, code });
    expect(readHeading(await readText(again))).toBe('Set up two-step verification');
    expect(await sso.call('GET', `/users/${adminId}`, 200)).not.toMatchObject({
      secondFactors: expect.arrayContaining(['totp']),
    });
  });

  test('the secret of an authenticator app from another browser is refused', async () => {
    const page = '/connect/authenticator';
    const one = new CookieBrowser();
    const other = new CookieBrowser();
    const shown = await post(one, page, { ...sso.admin, action: 'sign-in' });
    const secret = secretField(await readText(shown));
    await post(other, page, { ...sso.admin, action: 'sign-in' });
    const code = appCode(secret, sso.clock.now());
    const again = await post(other, page, { action: 'enrol', secret, code });
    expect(readHeading(await readText(again))).toBe('Set up two-step verification');
  });
});
