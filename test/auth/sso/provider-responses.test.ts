import { SignJWT, UnsecuredJWT } from 'jose';
import { afterEach, describe, expect, test } from 'vitest';
import { opened } from '../../support/opened.ts';
import { CookieBrowser } from './cookie-browser.ts';
import { type Behaviour, clientSecret, newKey, startOwnProvider } from './own-provider.ts';
import { openSso } from './sso-fixture.ts';

const sso = opened(openSso);
afterEach(() => sso.provider.reset());

/**
 * Signs in at a provider with this behaviour.
 * @returns the code of the refusal reason, or `signed in`
 */
async function reasonWhen(behaviour: Partial<Behaviour>): Promise<string | undefined> {
  Object.assign(sso.provider.behaviour, behaviour);
  const { code, reason } = await sso.enter();
  return code === null ? reason : 'signed in';
}

const seconds = () => Math.floor(sso.clock.now() / 1000);

describe('a wrong ID token', () => {
  test.each<[string, () => object, string]>([
    ['another issuer', () => ({ iss: 'https://other.example' }), 'issuer_mismatch'],
    ['another client', () => ({ aud: 'other' }), 'audience_mismatch'],
    ['several clients without azp', () => ({ aud: ['flagmeter', 'other'] }), 'audience_mismatch'],
    ['the azp of another client', () => ({ aud: ['flagmeter', 'other'], azp: 'other' }), 'audience_mismatch'],
    ['another nonce', () => ({ nonce: 'n'.repeat(43) }), 'nonce_mismatch'],
    ['no nonce', () => ({ nonce: null }), 'id_token_invalid'],
    ['an exp in the past', () => ({ iat: seconds() - 400, exp: seconds() - 61 }), 'token_expired'],
    ['an nbf in the future', () => ({ nbf: seconds() + 62 }), 'token_expired'],
    ['an iat in the future', () => ({ iat: seconds() + 62, exp: seconds() + 300 }), 'token_expired'],
    ['an iat in the far future', () => ({ iat: seconds() + 1e9, exp: seconds() + 2e9 }), 'token_expired'],
    ['an auth_time in the future', () => ({ auth_time: seconds() + 62 }), 'token_expired'],
    ['no exp', () => ({ exp: null }), 'id_token_invalid'],
    ['no subject', () => ({ sub: null }), 'id_token_invalid'],
    ['a list as subject', () => ({ sub: ['ada'] }), 'id_token_invalid'],
    ['a long subject', () => ({ sub: 'a'.repeat(256) }), 'id_token_invalid'],
    ['100 kB of claims', () => ({ groups: ['g'.repeat(100_000)] }), 'claims_invalid'],
    ['1 MB of claims', () => ({ groups: ['g'.repeat(1_000_000)] }), 'provider_document_invalid'],
  ])('a sign-in is refused if the ID token has %s', async (_what, claims, reason) => {
    expect(await reasonWhen({ claims: claims() as Behaviour['claims'] })).toBe(reason);
  });

  test('an ID token with the algorithm none is refused', async () => {
    expect(await reasonWhen({ token: (claims) => new UnsecuredJWT(claims).encode() })).toBe('id_token_invalid');
  });

  test('an ID token signed with the client secret is refused', async () => {
    const token: Behaviour['token'] = (claims) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(clientSecret));
    expect(await reasonWhen({ token })).toBe('id_token_invalid');
  });

  test('an ID token signed by a key that is not published is refused', async () => {
    const { privateKey } = await newKey('first');
    const token: Behaviour['token'] = (claims) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'first' }).sign(privateKey);
    expect(await reasonWhen({ token })).toBe('signature_invalid');
  });
});

describe('a valid ID token', () => {
  test('an ID token is accepted if the clocks differ by up to a minute', async () => {
    expect(await reasonWhen({ claims: { iat: seconds() - 400, exp: seconds() - 50 } })).toBe('signed in');
    expect(await reasonWhen({ claims: { iat: seconds() + 50, exp: seconds() + 300 } })).toBe('signed in');
  });

  test('a new key of a provider is accepted ten seconds after the keys were last read', async () => {
    const second = await newKey('second');
    const rotated: Partial<Behaviour> = {
      keys: [second],
      token: (claims) =>
        new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'second' }).sign(second.privateKey),
    };
    await reasonWhen({});
    expect(await reasonWhen(rotated)).toBe('signature_invalid');
    sso.clock.advance(10_000);
    expect(await reasonWhen(rotated)).toBe('signed in');
    expect(await reasonWhen({ ...rotated, token: undefined }), 'a removed key').toBe('signature_invalid');
    sso.provider.reset();
    sso.clock.advance(10_000);
    expect(await reasonWhen({})).toBe('signed in');
  });
});

describe("a provider's response", () => {
  test('a response of a provider without iss, or with the iss of another provider, is refused', async () => {
    expect(await reasonWhen({ redirect: { iss: undefined } })).toBe('mixed_up');
    expect(await reasonWhen({ redirect: { iss: 'https://other.example' } })).toBe('mixed_up');
  });

  test('a response of a provider is refused at the redirect URI of another provider', async () => {
    const other = await startOwnProvider(() => sso.clock.now());
    const { id } = await sso.call<{ id: string }>('POST', '/identity-providers', 201, {
      name: 'Other',
      issuer: other.issuer,
      clientId: 'flagmeter',
    });
    const browser = new CookieBrowser();
    const callback = await sso.begin(browser);
    const moved = new URL(callback.href.replace(sso.providerId, id));
    expect(await sso.finish(browser, moved)).toMatchObject({ code: null, status: 400 });
    expect(other.requested).toEqual([]);
    await sso.call('DELETE', `/identity-providers/${id}`, 204);
    await other.close();
  });

  test('a response of a provider is refused in a browser that has not started the sign-in', async () => {
    const callback = await sso.begin(new CookieBrowser());
    const before = sso.provider.requested.length;
    expect(await sso.finish(new CookieBrowser(), callback)).toMatchObject({ code: null, status: 400 });
    expect(sso.provider.requested).toHaveLength(before);
  });

  test('a response of a provider with another state is refused', async () => {
    const browser = new CookieBrowser();
    const callback = await sso.begin(browser);
    callback.searchParams.set('state', `${callback.searchParams.get('state')}x`);
    expect(await sso.finish(browser, callback)).toMatchObject({ code: null, status: 400 });
  });

  test('a response of a provider is accepted only once', async () => {
    const browser = new CookieBrowser();
    const callback = await sso.begin(browser);
    expect((await sso.finish(browser, callback)).code).not.toBeNull();
    expect(await sso.finish(browser, callback)).toMatchObject({ code: null, status: 400 });
  });

  test('a response of a provider is refused if its code was used in another sign-in', async () => {
    const first = new CookieBrowser();
    const second = new CookieBrowser();
    const used = await sso.begin(first);
    await sso.finish(first, used);
    const callback = await sso.begin(second);
    callback.searchParams.set('code', used.searchParams.get('code')!);
    expect((await sso.finish(second, callback)).reason).toBe('code_refused');
  });

  test('a response of a provider is refused after ten minutes', async () => {
    const browser = new CookieBrowser();
    const callback = await sso.begin(browser);
    sso.clock.advance(601_000);
    expect(await sso.finish(browser, callback)).toMatchObject({ code: null, status: 400 });
  });

  test('a sign-in is refused if the provider responds with an error, whose text is not shown', async () => {
    const redirect = { code: undefined, error: 'access_denied', error_description: 'SECRET TEXT' };
    Object.assign(sso.provider.behaviour, { redirect });
    const { reason, html } = await sso.enter();
    expect(reason).toBe('denied_by_provider');
    expect(html).not.toContain('SECRET TEXT');
    expect(sso.service.log()).not.toContain('SECRET TEXT');
  });
});

describe('a provider', () => {
  /** Starts a sign-in at a provider with this behaviour, without cached documents. */
  async function reasonAtStart(behaviour: Partial<Behaviour>): Promise<string | undefined> {
    sso.clock.advance(11 * 60_000);
    Object.assign(sso.provider.behaviour, behaviour);
    const query = sso.target().split('?')[1]!;
    const start = `${sso.url}/connect/providers/${sso.providerId}/start`;
    const response = await new CookieBrowser().send(`${start}?${new URLSearchParams({ page: 'authorize', query })}`);
    return /Reason: <code>(\w+)</.exec(await response.text())?.[1] ?? response.headers.get('location') ?? '';
  }
  const document = '/.well-known/openid-configuration';

  test.each<[string, Partial<Behaviour>, string]>([
    ['a document of another issuer', { metadata: { issuer: 'https://other.example' } }, 'issuer_mismatch'],
    ['a document without endpoints', { metadata: { token_endpoint: 7 } }, 'provider_document_invalid'],
    [
      'an endpoint that is a script',
      { metadata: { authorization_endpoint: 'javascript:1' } },
      'provider_document_invalid',
    ],
    ['a huge document', { metadata: { more: 'x'.repeat(300_000) } }, 'provider_document_invalid'],
    [
      'a redirect',
      { responses: { [document]: (to) => to.writeHead(302, { location: '/jwks' }).end() } },
      'provider_document_invalid',
    ],
    ['a document in HTML', { responses: { [document]: (to) => to.end('<p>') } }, 'provider_document_invalid'],
    ['a failure', { responses: { [document]: (to) => to.writeHead(500).end() } }, 'provider_unreachable'],
  ])('a sign-in is refused if the provider responds with %s', async (_what, behaviour, reason) => {
    expect(await reasonAtStart(behaviour)).toBe(reason);
  });

  test('a provider gets no new request for five seconds after a failure', async () => {
    const responses: Behaviour['responses'] = { [document]: (to) => to.writeHead(500).end() };
    await reasonAtStart({ responses });
    const before = sso.provider.requested.length;
    sso.clock.advance(4_000 - 11 * 60_000);
    sso.provider.reset();
    expect(await reasonAtStart({})).toBe('provider_unreachable');
    expect(sso.provider.requested).toHaveLength(before);
  });
});

test('the log of a sign-in with a provider contains no secret', async () => {
  const { code } = await sso.enter();
  const log = sso.service.log();
  for (const secret of [clientSecret, code!, 'code-1&', 'access_token', 'eyJ']) expect(log).not.toContain(secret);
});
