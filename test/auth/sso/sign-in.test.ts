import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { opened } from '../../support/opened.ts';
import { redirectUris, verifier } from '../sign-in-fixture.ts';
import { CookieBrowser } from './cookie-browser.ts';
import { openSso } from './sso-fixture.ts';

const sso = opened(openSso);
afterEach(() => sso.provider.reset());

describe('a sign-in with a provider', () => {
  test('a sign-in with a provider creates the user, and continues to the client', async () => {
    const { code, html, reason } = await sso.enter();
    expect({ code: code !== null, html, reason }).toEqual({ code: true, html: '', reason: undefined });
    const entry = (await sso.audit()).find(({ action }) => action === 'sign-in.succeeded');
    expect(entry).toMatchObject({ factors: ['provider'], provider: 'Corp' });
  });

  test.each([
    ['authenticator', '', 'Set up two-step verification'],
    ['device', '?user_code=', 'Connect flagmeter command line?'],
  ])('the page %s requires a recent sign-in at the provider', async (path, search, heading) => {
    const form = new URLSearchParams({ client_id: 'flagmeter-cli', scope: 'openid flagmeter' });
    const device = await fetch(`${sso.url}/connect/deviceauthorization`, { method: 'POST', body: form });
    const { user_code } = (await device.json()) as { user_code: string };
    const page = `${sso.url}/connect/${path}${search && `${search}${user_code}`}`;
    const browser = new CookieBrowser();
    const html = await (await browser.send(page)).text();
    const address = /<a class="button" href="(providers[^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&');
    const { response } = await browser.follow(new URL(address!, page), () => false);
    expect(/<h1>([^<]*)</.exec((await response?.text()) ?? '')?.[1]).toBe(heading);
    expect(sso.provider.asked.at(-1)?.get('max_age')).toBe('900');
  });

  test('the sign-in page offers the provider', async () => {
    const response = await new CookieBrowser().send(`${sso.url}${sso.target()}`);
    expect(await response.text()).toMatch(
      /<a class="button" href="providers\/provider_\w+\/start\?page=authorize&amp;query=[^"]+">Sign in with Corp<\/a>/,
    );
  });
});

const secondsAgo = (age: number) => Math.floor(sso.clock.now() / 1000) - age;

/**
 * Exchanges a code and creates an API key, which requires a recent sign-in.
 * @returns the status
 */
async function makeKey(code: string | null): Promise<number> {
  const client = { client_id: sso.clientId, redirect_uri: redirectUris.web, code_verifier: verifier };
  const form = new URLSearchParams({ grant_type: 'authorization_code', code: code ?? '', ...client });
  const response = await fetch(`${sso.url}/connect/token`, { method: 'POST', body: form });
  const { access_token: access } = (await response.json()) as { access_token: string };
  const headers = { authorization: `Bearer ${access}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'Made by a user' });
  const path = `/api/v2/teams/${sso.teamId}/api-keys`;
  return (await fetch(`${sso.url}${path}`, { method: 'POST', headers, body })).status;
}

describe.each([true, false])('a sign-in with a provider whose trustsSecondFactor is %s', (trusts) => {
  beforeAll(() => sso.configure({ defaultRole: 'Admin', trustsSecondFactor: trusts }));
  afterAll(() => sso.configure({ defaultRole: 'User', trustsSecondFactor: true }));
  const admin = { sub: `admin-${trusts}`, email: `admin-${trusts}@corp.example` };

  test.each([
    ['the sign-in is not recent if the provider omits the sign-in time', null, 401],
    ['the sign-in is not recent if the user signed in more than 15 minutes ago', 901, 401],
    ['the sign-in is recent if the user signed in within 15 minutes', 890, 201],
  ])('the time of a sign-in at a provider is checked: %s', async (_what, age, status) => {
    const authTime = age === null ? null : secondsAgo(age);
    sso.provider.behaviour.claims = { ...admin, auth_time: authTime };
    const { code } = await sso.enter();
    expect(sso.provider.asked.at(-1)?.has('max_age')).toBe(false);
    expect(await makeKey(code)).toBe(status);
  });

  test('a repeated sign-in request without max_age does not make the sign-in recent', async () => {
    sso.provider.behaviour.claims = { ...admin, auth_time: null };
    const browser = new CookieBrowser();
    expect((await sso.enter(browser, { max_age: '900' })).reason).toBe('authentication_time_missing');
    const { code } = await sso.enter(browser);
    expect(await makeKey(code)).toBe(401);
  });
});

describe('a sign-in with a maximum age', () => {
  test.each([
    ['a sign-in of exactly the maximum age is accepted', 900, undefined],
    ['a sign-in within the clock tolerance is accepted', 959, undefined],
    ['an older sign-in is refused', 962, 'authenticated_too_long_ago'],
  ])('the maximum age of a sign-in is checked: %s', async (_what, age, reason) => {
    sso.provider.behaviour.claims = { auth_time: secondsAgo(age) };
    expect((await sso.enter(new CookieBrowser(), { max_age: '900' })).reason).toBe(reason);
    expect(sso.provider.asked.at(-1)?.get('max_age')).toBe('900');
  });

  test.each([
    ['authorize', (): string => sso.target({ max_age: '900' }).split('?')[1]!],
    ['authenticator', (): string => ''],
  ] as const)('a sign-in is refused for the page %s if the provider omits the sign-in time', async (page, query) => {
    sso.provider.behaviour.claims = { auth_time: null };
    const browser = new CookieBrowser();
    const parameters = new URLSearchParams({ page, query: query() });
    const start = `${sso.url}/connect/providers/${sso.providerId}/start?${parameters}`;
    const { last } = await browser.follow(start, ({ pathname }) => pathname.endsWith('/callback'));
    const { reason, html } = await sso.finish(browser, last);
    expect(reason).toBe('authentication_time_missing');
    expect(html).toContain('the ID token lacks auth_time');
  });
});
