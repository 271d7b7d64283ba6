import { createHash } from 'node:crypto';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { encode, type Parameters } from '../auth/test-browser.ts';
import {
  type Binary,
  type Credentials,
  cleanUp,
  freshDirectory,
  manage,
  prepare,
  startBinary,
  stop,
  token,
} from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { type CallbackServer, startCallbackServer } from './support/callback-server.ts';
import { connectChromium, phone } from './support/chromium.ts';
import { contrast, readColours, readStyle, readWidth } from './support/looks.ts';

const { describe, test } = needing('chromium-headless-shell');

let chromium: Browser;
let service: Binary;
let credentials: Credentials;

beforeAll(async () => {
  const data = `${freshDirectory()}/data`;
  credentials = await prepare(data);
  [chromium, service] = await Promise.all([connectChromium(), startBinary({ data })]);
});

afterAll(async () => {
  await Promise.all([chromium?.close(), service && stop(service)]);
  cleanUp();
});

const verifier = 'v'.repeat(43);
const challenge = createHash('sha256').update(verifier).digest('base64url');

function authorizeAddress(redirect_uri: string, parameters: Parameters = {}): string {
  const usual = {
    response_type: 'code',
    client_id: 'flagmeter-cli',
    redirect_uri,
    scope: 'openid flagmeter',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  };
  return `http://${service.http}/connect/authorize?${encode({ ...usual, ...parameters })}`;
}

interface Visit {
  readonly page: Page;
  readonly callback: CallbackServer;
  /** Errors in the browser's console, above all violations of its policies. */
  readonly complaints: readonly string[];
}

/** Opens the sign-in page in a new browser context. JavaScript is disabled unless the options enable it. */
async function visit(options: BrowserContextOptions = {}): Promise<Visit> {
  const callback = await startCallbackServer();
  const context = await chromium.newContext({ javaScriptEnabled: false, ...options });
  onTestFinished(async () => {
    await context.close();
    callback.close();
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (!message.text().includes('the server responded with a status of')) complaints.push(message.text());
  });
  await page.goto(authorizeAddress(callback.redirectUri));
  return { page, callback, complaints };
}

/** Fills in the sign-in page and submits it. */
async function send(page: Page, password = credentials.adminPassword, email = credentials.adminEmail): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

async function exchange(code: string | undefined, redirectUri: string): Promise<number> {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: 'flagmeter-cli',
    code_verifier: verifier,
    redirect_uri: redirectUri,
    code: code ?? '',
  });
  return (await fetch(`http://${service.http}/connect/token`, { method: 'POST', body })).status;
}

describe('the sign-in page on a phone without JavaScript', () => {
  test("a user signs in on a phone without JavaScript, and the user's program gets a valid code", async () => {
    const { page, callback, complaints } = await visit(phone);
    await send(page);
    await page.getByText('You can close this page').waitFor();
    expect(callback.responses).toEqual([{ code: expect.any(String), iss: `http://${service.http}` }]);
    expect(await exchange(callback.responses[0]?.['code'], callback.redirectUri)).toBe(200);
    expect(complaints).toEqual([]);
    const [cookie, ...others] = await page.context().cookies();
    expect(cookie).toMatchObject({ name: 'flagmeter', httpOnly: true, sameSite: 'Lax', path: '/' });
    expect(others).toEqual([]);
  });

  test('the sign-in page fits the narrowest screen, and its fields are large enough for a finger', async () => {
    const { page } = await visit({ ...phone, viewport: { width: 320, height: 568 } });
    expect(await readWidth(page)).toBe(320);
    for (const control of await page.locator('input:not([type=hidden]), button').all())
      expect((await control.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    // Safari on a phone zooms in when a field with smaller text gets the focus.
    expect(Number.parseFloat(await readStyle(page, '#password', 'fontSize'))).toBeGreaterThanOrEqual(16);
  });

  test('the sign-in page reports a wrong password, and keeps the e-mail address', async () => {
    const { page, callback, complaints } = await visit(phone);
    await send(page, 'wrong');
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).toBe('The e-mail address or the password is wrong.');
    expect(await page.title()).toMatch(/^Error: /);
    expect(await page.getByLabel('E-mail address').inputValue()).toBe(credentials.adminEmail);
    const password = page.getByLabel('Password');
    expect(await password.inputValue()).toBe('');
    expect(await page.locator(':focus').getAttribute('id')).toBe('password');
    expect(await password.getAttribute('aria-describedby')).toBe(await alert.getAttribute('id'));
    await password.fill(credentials.adminPassword);
    await password.press('Enter');
    await page.getByText('You can close this page').waitFor();
    expect(callback.responses).toHaveLength(1);
    expect(complaints).toEqual([]);
  });

  test('the sign-in page throttles a user who guesses passwords', async () => {
    const { page } = await visit(phone);
    const alert = page.getByRole('alert');
    for (let guess = 0; guess < 5; guess++) {
      const signInResponse = page.waitForResponse((response) => response.request().method() === 'POST');
      await send(page, `guess ${guess}`, 'guessed@example.com');
      expect((await signInResponse).status()).toBe(403);
      await alert.waitFor();
    }
    await send(page, 'one more', 'guessed@example.com');
    await page.getByText(/^Too many attempts have failed\. Try again in [1-5] seconds?\.$/).waitFor();
  });
});

test.each(['light', 'dark'] as const)('the texts of the sign-in page are readable in %s mode', async (colorScheme) => {
  const { page } = await visit({ colorScheme });
  await send(page, 'wrong', 'nobody@example.com');
  await page.getByRole('alert').waitFor();
  const colours = await readColours(page);
  expect(colours.length).toBeGreaterThan(8);
  for (const { element, text, ground } of colours) expect(contrast(text, ground), element).toBeGreaterThan(4.5);
  const border = await readStyle(page, '#password', 'borderTopColor');
  expect(contrast(border, colours[0]?.ground ?? '')).toBeGreaterThan(3);
  expect(contrast(colours[0]?.ground ?? '', 'rgb(0, 0, 0)') < 2).toBe(colorScheme === 'dark');
});

test('the sign-in page works with only the keyboard, and shows which element has the focus', async () => {
  const { page, callback } = await visit();
  const order: string[] = [];
  for (let stop = 0; stop < 4; stop++) {
    const focus = page.locator(':focus');
    order.push((await focus.getAttribute('id')) ?? (await focus.innerText()));
    expect(await readStyle(page, ':focus', 'outlineWidth')).toBe('3px');
    await page.keyboard.press('Tab');
  }
  expect(order).toEqual(['email', 'password', 'Sign in', 'Cancel']);
  await page.getByLabel('E-mail address').focus();
  await page.keyboard.type(credentials.adminEmail);
  await page.keyboard.press('Tab');
  await page.keyboard.type(credentials.adminPassword);
  await page.keyboard.press('Enter');
  await page.getByText('You can close this page').waitFor();
  expect(callback.responses).toHaveLength(1);
  // A program must not get a code without the user's knowledge, but pressing one key is enough.
  await page.goto(authorizeAddress(callback.redirectUri));
  await page.getByRole('heading', { name: 'Continue to flagmeter command line?' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('You can close this page').waitFor();
  expect(callback.responses).toHaveLength(2);
});

test('a user who cancels the sign-in is redirected without a code', async () => {
  const { page, callback } = await visit();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('You can close this page').waitFor();
  expect(callback.responses).toEqual([expect.objectContaining({ error: 'access_denied' })]);
});

test('an app that uses its own URL scheme gets a code', async () => {
  const access = await token(service.http, credentials);
  const wanted = { name: 'App', type: 'public', redirectUris: ['com.example.app:/callback'] };
  const path = `/api/v2/teams/${credentials.teamId}/clients`;
  const { clientId } = (await manage(service.http, access, 'POST', path, 201, wanted)) as { clientId: string };
  const { page, complaints } = await visit(phone);
  await page.goto(authorizeAddress('com.example.app:/callback', { client_id: clientId }));
  // No program on this machine handles the scheme, so the test checks only that the browser tried to open it.
  const tried = page.waitForEvent('requestfailed', (request) => request.url().startsWith('com.example.app:'));
  await send(page);
  expect((await tried).url()).toMatch(/^com\.example\.app:\/callback\?code=[\w-]{43}&iss=/);
  expect(complaints).toEqual([]);
});

describe('another site', () => {
  test('another site cannot sign its visitor in to the account of the attacker', async () => {
    const { page } = await visit();
    const { adminEmail, adminPassword } = credentials;
    const callback = await startCallbackServer(
      `<form method="post" action="${authorizeAddress('http://127.0.0.1:9/callback').replaceAll('&', '&amp;')}">
       <input name="email" value="${adminEmail}"><input name="password" value="${adminPassword}">
       <input name="form" value="${'0'.repeat(64)}"><button>Win a prize</button></form>`,
    );
    onTestFinished(() => callback.close());
    // The browser treats another host name as another site.
    await page.goto(callback.redirectUri.replace('127.0.0.1', 'localhost').replace('/callback', '/prize'));
    await page.getByRole('button').click();
    await page.getByText('The form was sent by another site').waitFor();
    await page.goto(authorizeAddress('http://127.0.0.1:9/callback'));
    expect(await page.getByLabel('Password').count()).toBe(1);
  });

  test('a frame of another site does not show the sign-in page', async () => {
    const { page } = await visit();
    const address = authorizeAddress('http://127.0.0.1:9/callback').replaceAll('&', '&amp;');
    const callback = await startCallbackServer(`<iframe src="${address}"></iframe>`);
    onTestFinished(() => callback.close());
    await page.goto(callback.redirectUri.replace('/callback', '/frame'));
    const frame = page.frames()[1];
    expect(frame && (await frame.locator('input').count())).toBe(0);
  });
});
