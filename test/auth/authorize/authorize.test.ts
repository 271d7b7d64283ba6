import { beforeAll, describe, expect, test } from 'vitest';
import { opened } from '../../support/opened.ts';
import { openSignIn, redirectUris } from '../sign-in-fixture.ts';
import type { Parameters, TestBrowser } from '../test-browser.ts';

const fixture = opened(openSignIn);

async function signedIn(): Promise<TestBrowser> {
  const browser = fixture.newBrowser();
  await fixture.signIn(browser);
  return browser;
}

const readParameters = (location: URL | undefined) => Object.fromEntries(location?.searchParams ?? []);

describe('an authorization request with an unusable client or redirect URI', () => {
  test.each<[string, Parameters]>([
    ['no client', { client_id: undefined }],
    ['an unknown client', { client_id: 'signin_unknown' }],
    ['the client __proto__', { client_id: '__proto__' }],
    ['no redirect URI', { redirect_uri: undefined }],
    ['another redirect path', { redirect_uri: 'https://shop.example.com/callback/?from=flagmeter' }],
    ['another redirect host', { redirect_uri: 'https://shop.example.com.evil.example/callback?from=flagmeter' }],
    ['a user in the redirect URI', { redirect_uri: 'https://shop.example.com@evil.example/callback' }],
    ['a fragment in the redirect URI', { redirect_uri: `${redirectUris.web}#x` }],
    ['another redirect scheme', { redirect_uri: 'http://shop.example.com/callback?from=flagmeter' }],
    ['a script as redirect URI', { redirect_uri: 'javascript:alert(1)' }],
    ['another name of the loopback address', { redirect_uri: 'http://localhost:8000/callback' }],
    ['a host after the loopback address', { redirect_uri: 'http://127.0.0.1:80@evil.example/callback' }],
    ['an invalid port', { redirect_uri: 'http://127.0.0.1:99999/callback' }],
  ])('an authorization request with %s gets an error page', async (_, parameters) => {
    const page = await fixture.newBrowser().open(fixture.target(parameters));
    expect(page).toMatchObject({ status: 400, location: undefined });
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.error).toMatch(/^(client_id|redirect_uri) is missing or not registered/);
  });

  test.each(['client_id', 'redirect_uri'])(
    'an authorization request with a repeated %s gets an error page',
    async (name) => {
      const page = await fixture.newBrowser().open(`${fixture.target()}&${name}=x`);
      expect(page).toMatchObject({ status: 400, location: undefined });
    },
  );

  test('an authorization request with broken percent-encoding gets an error page', async () => {
    const page = await fixture.newBrowser().open(`${fixture.target()}&x=%ff`);
    expect(page).toMatchObject({ status: 400, error: 'A parameter is not percent-encoded UTF-8.' });
  });
});

const long = (length: number) => 'x'.repeat(length);

const refusedRequests: readonly (readonly [string, string, Parameters])[] = [
  ['no response type', 'invalid_request', { response_type: undefined }],
  ['the implicit flow', 'unsupported_response_type', { response_type: 'token' }],
  ['the hybrid flow', 'unsupported_response_type', { response_type: 'code id_token' }],
  ['a response mode of form_post', 'invalid_request', { response_mode: 'form_post' }],
  ['a response mode of fragment', 'invalid_request', { response_mode: 'fragment' }],
  ['no PKCE', 'invalid_request', { code_challenge: undefined, code_challenge_method: undefined }],
  ['plain PKCE', 'invalid_request', { code_challenge_method: 'plain' }],
  ['PKCE without a method', 'invalid_request', { code_challenge_method: undefined }],
  ['a challenge that is not a SHA-256', 'invalid_request', { code_challenge: long(42) }],
  ['a padded challenge', 'invalid_request', { code_challenge: `${long(42)}=` }],
  ['no scope', 'invalid_scope', { scope: undefined }],
  ['no scope openid', 'invalid_scope', { scope: 'flagmeter' }],
  ['an unknown prompt', 'invalid_request', { prompt: 'create' }],
  ['the prompt none and another prompt', 'invalid_request', { prompt: 'none login' }],
  ['a max_age that is not a number', 'invalid_request', { max_age: '-1' }],
  ['a max_age that is too long', 'invalid_request', { max_age: long(11) }],
  ['a long nonce', 'invalid_request', { nonce: long(513) }],
  ['a long hint', 'invalid_request', { login_hint: long(257) }],
  ['a request object', 'request_not_supported', { request: 'eyJ' }],
  ['a request by reference', 'request_uri_not_supported', { request_uri: 'https://evil.example' }],
  ['a registration', 'registration_not_supported', { registration: '{}' }],
];

describe('a refused request of a browser that is not signed in', () => {
  test.each(refusedRequests.filter(([, , { prompt }]) => prompt !== 'none login'))(
    'a browser without a signed-in user gets an error page, not a redirect, for a request with %s',
    async (_, _error, parameters) => {
      const page = await fixture.newBrowser().open(fixture.target(parameters));
      expect(page).toMatchObject({ status: 400, location: undefined });
      expect(page.error).not.toBe('');
      expect(page.html).not.toContain('shop.example.com');
    },
  );

  test('a browser gets an error page, not a redirect, after its sign-in has ended', async () => {
    const browser = await signedIn();
    fixture.clock.advance(13 * 3_600_000);
    expect(await browser.open(fixture.target({ scope: 'x' }))).toMatchObject({ status: 400 });
  });

  test.each([
    ['no signed-in user', 'login_required', {}],
    ['no scope openid', 'invalid_scope', { scope: 'flagmeter' }],
  ])('the prompt `none` redirects a request with %s to the client with an error', async (_, error, parameters) => {
    const target = fixture.target({ prompt: 'none', ...parameters });
    const { status, location } = await fixture.newBrowser().open(target);
    expect(status).toBe(303);
    expect(readParameters(location)).toMatchObject({ error, state: 'st&te=1' });
  });
});

describe('a refused request of a signed-in browser', () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await signedIn();
  });

  test.each(refusedRequests)('a request with %s is redirected to the client', async (_, error, parameters) => {
    const { status, location, headers } = await browser.open(fixture.target(parameters));
    expect(status).toBe(303);
    expect(location?.href).toMatch(/^https:\/\/shop\.example\.com\/callback\?from=flagmeter&error=/);
    expect(readParameters(location)).toEqual({
      from: 'flagmeter',
      error,
      error_description: expect.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/),
      state: 'st&te=1',
      iss: `http://${fixture.service.http}`,
    });
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  });

  test.each(['state', 'scope', 'nonce', 'whatever'])(
    'a signed-in browser is redirected to the client for a repeated parameter: %s',
    async (name) => {
      const { location } = await browser.open(`${fixture.target()}&${name}=a&${name}=b`);
      expect(readParameters(location)).toMatchObject({ error: 'invalid_request' });
      expect(location?.searchParams.has('state')).toBe(name !== 'state');
    },
  );

  test('a redirect to the client omits a state that is too long', async () => {
    const { location } = await browser.open(fixture.target({ state: long(2049) }));
    expect(readParameters(location)).toMatchObject({ error: 'invalid_request' });
    expect(location?.searchParams.has('state')).toBe(false);
  });

  test('a signed-in browser is redirected to any port of a loopback address, and to the URI scheme of an app', async () => {
    const { target } = fixture;
    const loopback = 'http://127.0.0.1:51234/callback';
    const local = await browser.open(target({ redirect_uri: loopback, scope: 'x' }));
    expect(local.location?.href).toMatch(/^http:\/\/127\.0\.0\.1:51234\/callback\?error=invalid_scope&/);
    const app = await browser.open(target({ redirect_uri: redirectUris.app, scope: 'x' }));
    expect(app.headers.location).toMatch(/^com\.example\.shop:\/callback\?error=invalid_scope&/);
  });
});

describe('a valid authorization request', () => {
  test('an authorization request shows a page that forbids frames, caching and scripts', async () => {
    const page = await fixture.newBrowser().open(fixture.target());
    expect(page.status).toBe(200);
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
    });
    expect(page.headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; img-src data:; form-action 'self' https:; frame-ancestors 'none'; base-uri 'none'$/,
    );
    expect(page.html).not.toMatch(/<script| on\w+=|style="/);
    expect(page.html).toContain('to continue to <strong>Shop &amp; Co</strong>');
    expect(page.html).toContain('You will be sent to <strong>shop.example.com</strong>');
  });

  test.each([
    ['http://127.0.0.1:51234/callback', "'self' http://127.0.0.1:51234 https:", 'a program on this device'],
    [redirectUris.app, "'self' com.example.shop: https:", 'the app com.example.shop on this device'],
  ])('the form of the sign-in page can redirect to %s', async (redirect_uri, targets, receiver) => {
    const page = await fixture.newBrowser().open(fixture.target({ redirect_uri }));
    expect(page.headers['content-security-policy']).toContain(`form-action ${targets};`);
    expect(page.html).toContain(receiver);
  });

  test('the sign-in page of the console does not name the address of the console', async () => {
    const redirect_uri = `http://${fixture.service.http}/console/callback`;
    const page = await fixture.newBrowser().open(fixture.target({ client_id: 'flagmeter-console', redirect_uri }));
    expect(page.html).toContain('to continue to <strong>flagmeter console</strong>');
    expect(page.html).not.toContain('You will be sent to');
  });

  test('the sign-in page escapes the parameters of the request', async () => {
    const login_hint = `"><script>alert('1')</script>&amp;`;
    const page = await fixture.newBrowser().open(fixture.target({ login_hint }));
    expect(page.html).toContain('value="&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;amp;"');
    expect(page.html).not.toContain('<script');
  });

  test('a posted authorization request is redirected to a GET request', async () => {
    const browser = fixture.newBrowser();
    const [path = '', query = ''] = fixture.target({ login_hint: 'ada@example.com' }).split('?');
    await browser.open(path);
    const sent = await browser.submit(Object.fromEntries(new URLSearchParams(query)));
    expect(sent.status).toBe(303);
    const page = await browser.open(`${sent.location?.pathname}${sent.location?.search}`);
    expect(page).toMatchObject({ status: 200, html: expect.stringContaining('value="ada@example.com"') });
  });

  test('a posted authorization request that is too long for a URL is rejected', async () => {
    const browser = fixture.newBrowser();
    await browser.open('/connect/authorize');
    expect(await browser.submit({ state: 'x'.repeat(9000) })).toMatchObject({ status: 413 });
    expect(await browser.submit({ state: 'x'.repeat(20_000) })).toMatchObject({ status: 413 });
    expect(await browser.submit({}, { 'content-type': 'application/json' })).toMatchObject({ status: 400 });
  });

  test.each(['flagmeter-cli', 'flagmeter-console'])(
    'the built-in client %s can send an authorization request',
    async (client_id) => {
      const { http } = fixture.service;
      const redirect_uri = { 'flagmeter-cli': 'http://[::1]:4711/callback' }[client_id];
      const console = `http://${http}/console/callback`;
      const page = await fixture
        .newBrowser()
        .open(fixture.target({ client_id, redirect_uri: redirect_uri ?? console }));
      expect(page.status).toBe(200);
      const elsewhere = console.replace(/:\d+/, ':9');
      const refused = await fixture.newBrowser().open(fixture.target({ client_id, redirect_uri: elsewhere }));
      expect(refused).toMatchObject({ status: 400, location: undefined });
    },
  );
});

test('the cookie that a browser gets over HTTPS is bound to the host and to HTTPS', async () => {
  const secure = await openSignIn({ args: ['--auth-url', 'https://auth.example.com'] });
  const page = await secure.newBrowser().open(secure.target());
  const value = '[\\w-]{43}\\.[\\w-]{43}';
  expect(page.headers['set-cookie']).toEqual([
    expect.stringMatching(
      new RegExp(`^__Host-flagmeter=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=7776000; Secure$`),
    ),
  ]);
  await secure.service.stop();
  const plain = await fixture.newBrowser().open(fixture.target());
  expect(plain.headers['set-cookie']?.[0]).toMatch(
    new RegExp(`^flagmeter=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=7776000$`),
  );
});
