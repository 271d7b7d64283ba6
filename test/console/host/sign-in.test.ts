import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { openSignIn } from '../../auth/sign-in-fixture.ts';
import { opened } from '../../support/opened.ts';
import { ConsoleBrowser, readLocation } from './console-browser.ts';

const fixture = opened(openSignIn);
let origin: string;

beforeAll(async () => {
  origin = `http://${fixture.service.http}`;
});

const newBrowser = () => new ConsoleBrowser(fixture.service);
const shownBy = async (response: Response) => /<p class="error">([^<]*)</.exec(await response.text())?.[1];

test('signing in redirects the browser to the sign-in page, and starts a session afterwards', async () => {
  const browser = newBrowser();
  const page = await browser.begin({ return: '/apps/1?range=7d' });
  expect(page.origin + page.pathname).toBe(`${origin}/connect/authorize`);
  expect(Object.fromEntries(page.searchParams)).toEqual({
    response_type: 'code',
    client_id: 'flagmeter-console',
    redirect_uri: `${origin}/console/callback`,
    scope: 'openid flagmeter',
    state: expect.stringMatching(/^[\w-]+\.[\w]+\.[\w-]+$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
  });
  const response = await browser.go(await browser.authorize(page, fixture.admin));
  expect(readLocation(response).href).toBe(`${origin}/apps/1?range=7d`);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(await browser.who()).toBe(fixture.admin.email);
  expect(browser.attempts).toEqual([]);
});

test('signing in returns to the start page of the console by default', async () => {
  expect(readLocation(await newBrowser().signIn(fixture.admin)).href).toBe(`${origin}/`);
});

test('a sign-in exposes neither the verifier in a URL nor a token in a page', async () => {
  const browser = newBrowser();
  const page = await browser.begin();
  const [attempt = ''] = browser.attempts;
  const secret = browser.cookies.get(attempt)!;
  const verifier = createHash('sha256').update(`verifier.${secret}`).digest('hex');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  expect(page.searchParams.get('code_challenge')).toBe(challenge);
  const callback = await browser.authorize(page, fixture.admin);
  const response = await browser.go(callback);
  for (const seen of [page.href, callback.href, readLocation(response).href, await response.text()]) {
    expect(seen).not.toContain(secret);
    expect(seen).not.toContain(verifier);
    expect(seen).not.toContain(browser.session![1]);
  }
});

describe.each([
  ['over plain HTTP', [], (port: string) => `flagmeter-console-${port}`, ''],
  [
    'over HTTPS',
    ['--base-url', 'https://console.example', '--auth-url', 'https://auth.example'],
    () => '__Host-flagmeter-console',
    '; Secure',
  ],
])('a sign-in %s', (_, args, cookieName, secure) => {
  test('a sign-in limits its session cookie to the host, and hides the cookie from scripts', async () => {
    const { service, admin } = args.length === 0 ? fixture : await openSignIn({ args });
    const browser = new ConsoleBrowser(service);
    const page = await browser.begin();
    expect(browser.lastCookies).toEqual([
      expect.stringMatching(new RegExp(`flagmeter-sign-in-.*; Max-Age=3600; Path=/; HttpOnly; SameSite=Lax${secure}$`)),
    ]);
    await browser.go(await browser.authorize(page, admin));
    const name = cookieName(service.http.split(':')[1]!);
    expect(browser.lastCookies).toEqual([
      expect.stringMatching(new RegExp(`^${name}=.*; Max-Age=604800; Path=/; HttpOnly; SameSite=Strict${secure}$`)),
      expect.stringMatching(/flagmeter-sign-in-.*=; Max-Age=0; Path=\/; HttpOnly/),
    ]);
    if (service !== fixture.service) await service.stop();
  });
});

describe('the return address of a sign-in', () => {
  test.each([
    ['/', '/'],
    ['/apps/a%20b?x=%2F%2Fevil#top', '/apps/a%20b?x=%2F%2Fevil#top'],
    ['/console/signed-in', '/console/signed-in'],
    ['/apps/../settings', '/settings'],
  ])('the return address %s is a path of the console', async (path, wanted) => {
    const response = await newBrowser().signIn(fixture.admin, { return: path });
    expect(readLocation(response).href).toBe(`${origin}${wanted}`);
  });

  test.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example/',
    '\\\\evil.example',
    '/..//evil.example',
    '/a\\..\\\\evil.example',
    'apps',
    'javascript:alert(1)',
    '/\tevil',
    '/%0d%0aset-cookie: a=b\r\nset-cookie: c=d',
    '/é',
    '/ ',
    `/${'x'.repeat(1000)}`,
  ])('the return address %j is refused with a page that links to the sign-in', async (path) => {
    const browser = newBrowser();
    const response = await browser.go(`/console/sign-in?${new URLSearchParams({ return: path })}`);
    expect(response.status).toBe(400);
    expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(browser.attempts).toEqual([]);
    expect(await response.text()).toContain('<a href="sign-in">');
  });

  test('a sign-in with two return addresses is refused', async () => {
    expect((await newBrowser().go('/console/sign-in?return=/&return=//evil')).status).toBe(400);
  });
});

describe('the callback', () => {
  /** Replaces or removes (`null`) parameters of the callback URL, requests it, and returns the text of the response. */
  async function readRefusal(changed: Readonly<Record<string, string | null>>, browser = newBrowser()) {
    const callback = await browser.authorize(await browser.begin(), fixture.admin);
    for (const [name, value] of Object.entries(changed))
      if (value === null) callback.searchParams.delete(name);
      else callback.searchParams.set(name, value);
    const response = await browser.go(callback);
    expect(response.status).toBe(400);
    expect(browser.session).toBeUndefined();
    return shownBy(response);
  }
  const unknown = 'The sign-in has expired, was started in another browser, or the browser does not store cookies.';
  const foreign = 'The response is from another auth host.';

  test.each([
    ['another issuer', { iss: 'https://other.example' }, foreign],
    ['no issuer', { iss: null }, foreign],
    ['no state', { state: null }, unknown],
    ['an invalid state', { state: 'x'.repeat(200) }, unknown],
    ['another code', { code: 'x' }, 'The sign-in has expired or was already completed.'],
    ['no code', { code: null }, 'The auth host refused the sign-in.'],
    ['a refusal', { code: null, error: 'access_denied' }, 'The sign-in was cancelled.'],
    ['an unknown refusal', { code: null, error: '<b>' }, 'The auth host refused the sign-in.'],
    ['an inherited property as its error', { code: null, error: '__proto__' }, 'The auth host refused the sign-in.'],
  ])('the callback refuses a response with %s', async (_, changed, text) => {
    expect(await readRefusal(changed)).toBe(text);
  });

  test('the callback refuses a changed return address', async () => {
    const browser = newBrowser();
    const callback = await browser.authorize(await browser.begin({ return: '/a' }), fixture.admin);
    const state = callback.searchParams.get('state')!.split('.');
    callback.searchParams.set('state', [...state.slice(0, 2), Buffer.from('/b').toString('base64url')].join('.'));
    expect(await shownBy(await browser.go(callback))).toBe(unknown);
  });

  test('the callback refuses a response to an attempt of another browser', async () => {
    const attacker = newBrowser();
    const callback = await attacker.authorize(await attacker.begin(), fixture.admin);
    const victim = newBrowser();
    await victim.begin();
    expect(await shownBy(await victim.go(callback))).toBe(unknown);
    expect(victim.session).toBeUndefined();
    // The state of the browser's own attempt also fails, because the verifier of this attempt does not match the code.
    const own = await victim.begin();
    callback.searchParams.set('state', own.searchParams.get('state')!);
    expect((await victim.go(callback)).status).toBe(400);
    expect(victim.session).toBeUndefined();
  });

  test('the callback accepts a response once, and a replay changes nothing', async () => {
    const browser = newBrowser();
    const callback = await browser.authorize(await browser.begin(), fixture.admin);
    expect((await browser.go(callback)).status).toBe(303);
    expect(await shownBy(await browser.go(callback))).toBe(unknown);
    expect(await browser.status()).toBe(200);
  });

  test('the callback ends the session of a replayed code if the request has the cookie of the sign-in attempt', async () => {
    const browser = newBrowser();
    const callback = await browser.authorize(await browser.begin(), fixture.admin);
    const [attempt = ''] = browser.attempts;
    const secret = browser.cookies.get(attempt)!;
    await browser.go(callback);
    expect(await browser.status()).toBe(200);
    browser.cookies.set(attempt, secret);
    expect((await browser.go(callback)).status).toBe(400);
    expect(await browser.status()).toBe(401);
    expect((await fixture.audit()).map(({ action }) => action)).toContain('authorization-code.reused');
  });

  test('the callback refuses a code that is older than a minute', async () => {
    const browser = newBrowser();
    const callback = await browser.authorize(await browser.begin(), fixture.admin);
    fixture.clock.advance(60_000);
    expect(await shownBy(await browser.go(callback))).toBe('The sign-in has expired or was already completed.');
  });
});

test('two tabs can sign in concurrently and finish in any order', async () => {
  const browser = newBrowser();
  const first = await browser.begin({ return: '/first' });
  const second = await browser.begin({ return: '/second' });
  const callbacks = [await browser.authorize(first, fixture.admin), await browser.authorize(second, fixture.admin)];
  const replies = [await browser.go(callbacks[1]!), await browser.go(callbacks[0]!)];
  expect(replies.map((response) => readLocation(response).pathname)).toEqual(['/second', '/first']);
  expect(await browser.status()).toBe(200);
});

test('the cookies of unfinished sign-in attempts stay within the size limit of request headers', async () => {
  const browser = newBrowser();
  const begun: string[] = [];
  for (let at = 0; at < 30; at += 1) {
    await browser.begin();
    begun.push(...browser.attempts.filter((name) => !begun.includes(name)));
  }
  expect(browser.attempts).toEqual(begun.slice(-24));
});

test('signing in starts a new session even if the browser already has a session cookie', async () => {
  const browser = newBrowser();
  const [, port] = fixture.service.http.split(':');
  const planted = `${'x'.repeat(22)}.${'y'.repeat(43)}`;
  browser.cookies.set(`flagmeter-console-${port}`, planted);
  await browser.signIn(fixture.admin);
  expect(browser.session![1]).not.toBe(planted);
  const before = browser.session![1];
  await browser.signIn(fixture.admin);
  expect(browser.session![1]).not.toBe(before);
});

test('neither the console nor its error pages can be shown in a frame', async () => {
  const browser = newBrowser();
  for (const path of ['/', '/console/signed-in', '/console/callback', '/console/sign-in?return=x']) {
    const { headers } = await browser.go(path);
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('x-frame-options')).toBe('DENY');
  }
});

test('a browser at another host name is redirected once to the base URL before the sign-in', async () => {
  const args = ['--base-url', 'https://console.example', '--auth-url', 'https://auth.example'];
  const { service } = await openSignIn({ args });
  const browser = new ConsoleBrowser(service);
  const moved = readLocation(await browser.go('/console/sign-in?return=/apps'));
  expect(moved.href).toBe('https://console.example/console/sign-in?return=%2Fapps&moved=1');
  expect(browser.attempts).toEqual([]);
  expect(readLocation(await browser.go(moved)).origin).toBe('https://auth.example');
  expect((await browser.go('/console/sign-in?return=//evil.example')).status).toBe(400);
  await service.stop();
});

test('the console is served below the path of the base URL', async () => {
  const { service, admin } = await openSignIn({
    args: ['--base-url', 'https://tools.example/flags', '--auth-url', 'https://auth.example'],
  });
  const browser = new ConsoleBrowser(service);
  const page = await browser.begin();
  expect(page.searchParams.get('redirect_uri')).toBe('https://tools.example/flags/console/callback');
  const callback = await browser.authorize(page, admin);
  callback.pathname = '/console/callback'; // The proxy removes the path of the base URL.
  expect(readLocation(await browser.go(callback)).href).toBe('https://tools.example/flags/');
  await service.stop();
});
