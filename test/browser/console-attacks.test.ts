import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { type Console, openConsole } from './support/console.ts';

const { describe, test } = needing('chromium-headless-shell');

/** Pages of other origins attack a user who is signed in to the console, in a real browser. */

let console: Console;
let evil: { readonly port: number; close(): void };

beforeAll(async () => {
  [console, evil] = await Promise.all([openConsole(), serveEmptyPages()]);
});

afterAll(async () => {
  await console?.close();
  evil?.close();
  cleanUp();
});

/** Starts the attacker's server, whose empty pages run the scripts of a test. */
async function serveEmptyPages() {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>evil</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { port, close: () => server.close() };
}

/** The attacker's page is on another port of the same machine, which is the same site, or on another site. */
const places = [
  ['another port', () => `http://127.0.0.1:${evil.port}/`],
  ['another site', () => `http://localhost:${evil.port}/`],
] as const;

/** Opens a browser that is signed in to the console, and the attacker's page in another tab. */
async function openBoth(address: string) {
  const { page, context } = await console.visit('/settings', {
    ownSession: true,
    expected: /CORS|net::ERR|frame|X-Frame-Options|Cross-Origin/,
  });
  const attacker = await context.newPage();
  await attacker.goto(address);
  return { page, context, attacker };
}

/** Returns the status of a request that a page of the console sends. */
function ask(page: Page, method: string, path: string): Promise<number> {
  const options = JSON.stringify({ method, headers: { 'flagmeter-console': '1' } });
  return page.evaluate(`fetch('${path}', ${options}).then(({ status }) => status)`);
}

/** Returns the names of the user's applications. */
async function applications(): Promise<readonly string[]> {
  const { items } = (await console.manage('GET', '/api/v2/applications', 200)) as { items: { name: string }[] };
  return items.map(({ name }) => name);
}

describe.each(places)('a page on %s', (_, address) => {
  test("a form on the attacker's page cannot change anything in the console", async () => {
    const { page, attacker } = await openBoth(address());
    for (const enctype of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data']) {
      const [answer] = await Promise.all([
        attacker.waitForResponse(`${console.origin}/api/v2/applications`),
        attacker.waitForURL(`${console.origin}/api/v2/applications`),
        attacker.evaluate(`(() => {
          const form = document.createElement('form');
          Object.assign(form, { method: 'POST', enctype: '${enctype}', action: '${console.origin}/api/v2/applications' });
          form.append(Object.assign(document.createElement('input'), { name: '{"name":"stolen","x":"', value: '"}' }));
          document.body.append(form);
          form.submit();
        })()`),
      ]);
      expect(answer.status()).toBe(401);
      await attacker.goto(address());
    }
    expect(await applications()).not.toContain('stolen');
    expect(await ask(page, 'GET', '/api/v2/users/me')).toBe(200);
  });

  test("a fetch on the attacker's page is refused, with or without the header of the console", async () => {
    const { page, attacker } = await openBoth(address());
    const attempts = [
      { credentials: 'include', headers: { 'flagmeter-console': '1' } },
      { credentials: 'include', headers: { 'flagmeter-console': '1', 'sec-fetch-site': 'same-origin' } },
      { credentials: 'include' },
    ];
    for (const path of ['/api/v2/users/me', '/console/session'])
      for (const options of attempts)
        expect(await fetchFrom(attacker, console.origin + path, options)).toBe('TypeError');
    const opaque = { credentials: 'include', mode: 'no-cors', headers: { 'flagmeter-console': '1' } };
    const [request] = await Promise.all([
      attacker.waitForResponse(`${console.origin}/api/v2/users/me`),
      fetchFrom(attacker, `${console.origin}/api/v2/users/me`, opaque),
    ]);
    expect(request.status()).toBe(401);
    expect(await fetchFrom(attacker, `${console.origin}/console/session`, { method: 'DELETE' })).toBe('TypeError');
    expect(await ask(page, 'GET', '/api/v2/users/me')).toBe(200);
  });

  test("a frame on the attacker's page shows neither the console nor its sign-in nor its error pages", async () => {
    const { attacker } = await openBoth(address());
    for (const path of ['/', '/console/sign-in', '/console/callback', '/console/signed-in']) {
      await attacker.evaluate(`new Promise((resolve) => {
        const frame = Object.assign(document.createElement('iframe'), { src: '${console.origin}${path}', onload: resolve });
        document.body.replaceChildren(frame);
      })`);
      const texts = await Promise.all(
        attacker
          .frames()
          .slice(1)
          .map((frame) => frame.evaluate('document.body?.innerText ?? ""').catch(() => '')),
      );
      expect(texts.join('')).not.toMatch(/Sign in|signed in|Settings/);
    }
  });

  test("the attacker's page has no access to a console window that it opened", async () => {
    const { attacker, context } = await openBoth(address());
    const [opened] = await Promise.all([
      context.waitForEvent('page'),
      attacker.evaluate(`void (globalThis.opened = window.open('${console.origin}/settings'))`),
    ]);
    await opened.locator('main').waitFor();
    expect(await attacker.evaluate('globalThis.opened.closed')).toBe(true); // Cross-Origin-Opener-Policy makes it appear closed.
    expect(await opened.evaluate('window.opener')).toBeNull();
  });

  test("a link from the attacker's page to the sign-in neither changes the user nor leads to another site", async () => {
    const { page, attacker } = await openBoth(address());
    const before = await who(page);
    await attacker.goto(`${console.origin}/console/sign-in?return=${encodeURIComponent(`//127.0.0.1:${evil.port}/`)}`);
    expect(new URL(attacker.url()).origin).toBe(console.origin);
    await attacker.getByText('The address to return to does not belong to this console').waitFor();
    await attacker.goto(address());
    await attacker.goto(`${console.origin}/console/callback?code=x&state=y&iss=${encodeURIComponent(console.origin)}`);
    await attacker.getByText('You are not signed in').waitFor();
    expect(await who(page)).toBe(before);
  });
});

test('a cookie that a page on another port sets neither ends nor begins a session', async () => {
  const { page, context, attacker } = await openBoth(`http://127.0.0.1:${evil.port}/`);
  const [name] = (await context.cookies()).map((cookie) => cookie.name).filter((each) => /console/.test(each));
  // Chromium does not let a script overwrite an HttpOnly cookie. With a path, the script creates a second cookie.
  await attacker.evaluate(`document.cookie = '${name}=${'x'.repeat(22)}.${'y'.repeat(43)}; path=/'`);
  expect(await ask(page, 'GET', '/api/v2/users/me')).toBe(200);
  await attacker.evaluate(`document.cookie = '${name}=${'x'.repeat(22)}.${'y'.repeat(43)}; path=/api'`);
  expect(await ask(page, 'GET', '/api/v2/users/me')).toBe(401);
  onTestFinished(() => context.clearCookies());
});

async function who(page: Page): Promise<string> {
  const session = `fetch('/console/session', { headers: { 'flagmeter-console': '1' } })`;
  return page.evaluate(`${session}.then((answer) => answer.json()).then(({ user }) => user.id)`);
}

/** Returns the result of a fetch by the page: the status, or the name of the error. */
function fetchFrom(page: Page, url: string, options: object): Promise<number | string> {
  return page.evaluate(`fetch('${url}', ${JSON.stringify(options)}).then(({ status }) => status, ({ name }) => name)`);
}
