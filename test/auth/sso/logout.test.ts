import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { opened } from '../../support/opened.ts';
import { redirectUris, verifier } from '../sign-in-fixture.ts';
import { CookieBrowser } from './cookie-browser.ts';
import { newKey } from './own-provider.ts';
import { openSso } from './sso-fixture.ts';

const sso = opened(openSso);
afterEach(() => sso.provider.reset());

const event = { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } };

interface Tokens {
  readonly refresh_token: string;
  readonly id_token: string;
}

async function post(path: string, form: Record<string, string>): Promise<Response> {
  return fetch(`${sso.url}${path}`, { method: 'POST', body: new URLSearchParams(form) });
}

/** Signs in, and exchanges the code. */
async function session(claims: object = {}) {
  Object.assign(sso.provider.behaviour, { claims });
  const { code, browser } = await sso.enter();
  const form = { grant_type: 'authorization_code', code: code!, redirect_uri: redirectUris.web };
  const response = await post('/connect/token', { ...form, client_id: sso.clientId, code_verifier: verifier });
  return { browser, tokens: (await response.json()) as Tokens };
}

async function isValid({ refresh_token }: Tokens): Promise<boolean> {
  const response = await post('/connect/token', {
    grant_type: 'refresh_token',
    refresh_token,
    client_id: sso.clientId,
  });
  return response.status === 200;
}

let count = 0;
async function logOut(claims: object, typ = 'logout+jwt', key = sso.provider.key): Promise<number> {
  count += 1;
  const token = await sso.provider.sign({ ...event, sub: null, jti: `jti-${count}`, ...claims }, typ, key);
  return (await post(`/connect/providers/${sso.providerId}/logout`, { logout_token: token })).status;
}

describe('a back-channel logout', () => {
  test('a back-channel logout of a provider session ends the sign-ins and tokens that began with this session', async () => {
    const one = await session({ sid: 'one' });
    const two = await session({ sid: 'two' });
    expect(await logOut({ sid: 'one' })).toBe(200);
    expect([await isValid(one.tokens), await isValid(two.tokens)]).toEqual([false, true]);
    const page = await one.browser.send(`${sso.url}${sso.target({ prompt: 'none' })}`);
    expect(page.headers.get('location')).toContain('error=login_required');
    expect((await sso.audit()).map(({ action }) => action)).toContain('session.ended');
  });

  test('a back-channel logout of an account ends all sessions of the account', async () => {
    const one = await session({ sub: 'bob', email: 'bob@corp.example', sid: 'b1' });
    const two = await session({ sub: 'bob', email: 'bob@corp.example', sid: null });
    const other = await session({ sid: 'b1' });
    expect(await logOut({ sub: 'bob' })).toBe(200);
    expect([await isValid(one.tokens), await isValid(two.tokens)]).toEqual([false, false]);
    expect(await isValid(other.tokens)).toBe(true);
  });

  test('a logout token that names the session of another account ends no session', async () => {
    const one = await session({ sid: 'mine' });
    expect(await logOut({ sub: 'bob', sid: 'mine' })).toBe(200);
    expect(await isValid(one.tokens)).toBe(true);
  });

  test.each<[string, () => object, string?]>([
    ['a nonce', () => ({ sid: 's', nonce: 'n' })],
    ['no event', () => ({ sid: 's', events: {} })],
    ['neither sub nor sid', () => ({})],
    ['a list as sid', () => ({ sid: ['s'] })],
    ['no jti', () => ({ sid: 's', jti: null })],
    ['another issuer', () => ({ sid: 's', iss: 'https://other.example' })],
    ['another client', () => ({ sid: 's', aud: 'other' })],
    ['an old iat', () => ({ sid: 's', iat: Math.floor(sso.clock.now() / 1000) - 700, exp: null })],
    ['an exp in the past', () => ({ sid: 's', exp: Math.floor(sso.clock.now() / 1000) - 61 })],
    ['another type', () => ({ sid: 's' }), 'at+jwt'],
  ])('a logout token with %s is refused', async (_what, claims, typ) => {
    expect(await logOut(claims(), typ)).toBe(400);
  });

  test('a logout token is accepted only once', async () => {
    expect(await logOut({ sid: 's', jti: 'same' })).toBe(200);
    expect(await logOut({ sid: 's', jti: 'same' })).toBe(400);
  });

  test('a logout token signed by another key is refused', async () => {
    expect(await logOut({ sid: 's' }, 'logout+jwt', await newKey('first'))).toBe(400);
  });
});

describe('a sign-out', () => {
  test('a sign-out continues at the provider, and returns to the client', async () => {
    const { browser, tokens } = await session();
    const query = new URLSearchParams({
      id_token_hint: tokens.id_token,
      post_logout_redirect_uri: redirectUris.web,
      state: 'a state',
    });
    const response = await browser.send(`${sso.url}/connect/endsession?${query}`);
    const url = new URL(response.headers.get('location')!);
    expect(`${url.origin}${url.pathname}`).toBe(`${sso.provider.issuer}/logout`);
    const { id_token_hint, post_logout_redirect_uri, state } = Object.fromEntries(url.searchParams);
    expect(id_token_hint).toMatch(/^eyJ/);
    expect(post_logout_redirect_uri).toBe(`${sso.url}/connect/signed-out`);
    expect(await isValid(tokens)).toBe(false);
    const stranger = await new CookieBrowser().send(`${post_logout_redirect_uri}?state=${state}`);
    expect([stranger.status, stranger.headers.get('location')]).toEqual([200, null]);
    const back = await browser.send(`${post_logout_redirect_uri}?state=${state}`);
    expect(back.headers.get('location')).toBe(`${redirectUris.web}&state=a+state`);
  });

  test('a sign-out succeeds on this service if the provider is down', async () => {
    const { browser, tokens } = await session();
    sso.clock.advance(11 * 60_000);
    const responses = { '/.well-known/openid-configuration': (to: ServerResponse) => to.destroy() };
    Object.assign(sso.provider.behaviour, { responses });
    const query = new URLSearchParams({ id_token_hint: tokens.id_token });
    const response = await browser.send(`${sso.url}/connect/endsession?${query}`);
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('You are signed out')]);
    sso.clock.advance(6_000);
  });
});
