import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished } from 'vitest';
import { freePort } from '../../src/http/bind-failure.ts';
import { readOptions } from '../auth/passkey-fixture.ts';
import { TestBrowser } from '../auth/test-browser.ts';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { type Console, openConsole } from './support/console.ts';

const { describe, test } = needing('chromium-headless-shell');

let shop: Console;
/** The attacker's server, which has an empty page on any host name. */
let evil: Server;
let authUrl: string;

beforeAll(async () => {
  const port = await freePort('127.0.0.1', 0);
  // Browsers consider host names below localhost secure. They bind a passkey to the complete host name.
  authUrl = `http://auth.localhost:${port}`;
  shop = await openConsole(['--listen', `127.0.0.1:${port}`, '--auth-url', authUrl, '--base-url', authUrl]);
  evil = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<title>Win'));
  await once(evil.listen(0, '127.0.0.1'), 'listening');
});

afterAll(async () => {
  await shop?.close();
  evil?.close();
  cleanUp();
});

beforeEach(async () => {
  await shop.manage('PATCH', '/api/v2/sign-in-policy', 200, { secondFactor: 'optional' });
  const { items: users } = (await shop.manage('GET', '/api/v2/users', 200)) as { items: { id: string }[] };
  const path = `/api/v2/users/${users[0]!.id}/passkeys`;
  const { items } = (await shop.manage('GET', path, 200)) as { items: { id: string }[] };
  for (const { id } of items) await shop.manage('DELETE', `${path}/${id}`, 204);
});

/** A virtual authenticator of Chromium, connected to a page. */
interface Device {
  readonly session: CDPSession;
  readonly authenticatorId: string;
}

async function plugIn(page: Page, options: object = {}): Promise<Device> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
      ...options,
    },
  });
  return { session, authenticatorId };
}

/** A page of the auth host that only signed-in users see. */
const protectedPath = '/connect/passkey';

async function newPage(): Promise<Page> {
  const context = await shop.chromium.newContext({ locale: 'en-GB' });
  onTestFinished(() => context.close());
  return context.newPage();
}

async function typePassword(page: Page): Promise<void> {
  await page.getByLabel('E-mail address').fill(shop.credentials.adminEmail);
  await page.getByLabel('Password').fill(shop.credentials.adminPassword);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Opens a browser whose authenticator has a passkey of the Admin. The Admin is signed out again. */
async function withPasskey(): Promise<{ page: Page; device: Device }> {
  const page = await newPage();
  await page.goto(authUrl + protectedPath);
  await typePassword(page);
  await page.getByRole('heading', { name: 'Add a passkey' }).waitFor();
  const device = await plugIn(page);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  // The console signs in by redirects. Opening another page before they end would interrupt them.
  await page.getByRole('heading', { name: 'You', exact: true }).waitFor();
  await page.goto('about:blank');
  await page.context().clearCookies();
  return { page, device };
}

/** Clicks the passkey button. Touches are off before the click, because the browser would use a passkey without it. */
async function enter(page: Page, { session, authenticatorId }: Device): Promise<void> {
  const touch = (enabled: boolean) =>
    session.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
  await touch(false);
  await page.goto(authUrl + protectedPath);
  const button = page.getByRole('button', { name: 'Sign in with a passkey' });
  await button.waitFor();
  await touch(true);
  await button.click();
}

async function getCredential({ session, authenticatorId }: Device) {
  const { credentials } = await session.send('WebAuthn.getCredentials', { authenticatorId });
  return credentials[0]!;
}

/** The attacker's script. Like the sign-in page, it asks the visitor's passkey to sign a challenge. */
const ask = `async ({ challenge, rpId }) => {
  const bytes = (text) =>
    Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (each) => each.charCodeAt(0));
  const text = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  try {
    const publicKey = { challenge: bytes(challenge), rpId };
    const { rawId, response } = await navigator.credentials.get({ publicKey });
    return {
      credential: text(rawId),
      client_data: text(response.clientDataJSON),
      authenticator_data: text(response.authenticatorData),
      signature: text(response.signature),
      user_handle: text(response.userHandle),
    };
  } catch ({ name }) {
    return name;
  }
}`;

const inside = (page: Page) => page.getByRole('heading', { name: 'Add a passkey' }).waitFor();
const unknownPasskey = (page: Page) => page.getByRole('alert').getByText('This passkey is unknown here').waitFor();

describe('the sign-in page', () => {
  test.each([
    ['signs with another key', { isBogusSignature: true }],
    ['has not verified its user', { isBadUV: true }],
    ['was not touched', { isBadUP: true }],
  ])('the sign-in page rejects a passkey device that %s', async (_, bits) => {
    const { page, device } = await withPasskey();
    const { session, authenticatorId } = device;
    await session.send('WebAuthn.setResponseOverrideBits', { authenticatorId, ...bits });
    await enter(page, device);
    await unknownPasskey(page);
    await session.send('WebAuthn.setResponseOverrideBits', { authenticatorId });
    await enter(page, device);
    await inside(page);
  });

  test('the sign-in page rejects a copied passkey device if the original was used after copying', async () => {
    const { page, device } = await withPasskey();
    const copied = await getCredential(device);
    await enter(page, device);
    await inside(page);
    const thief = await newPage();
    const copy = await plugIn(thief);
    const { session, authenticatorId } = copy;
    await session.send('WebAuthn.addCredential', { authenticatorId, credential: copied });
    await enter(thief, copy);
    await thief.getByRole('alert').getByText('a copy of it might be in use').waitFor();
  });

  test('the sign-in page rejects an unverified passkey after a script on the page disabled user verification', async () => {
    const { page, device } = await withPasskey();
    await page.addInitScript(`
      const { get } = CredentialsContainer.prototype;
      CredentialsContainer.prototype.get = function (options) {
        options.publicKey.userVerification = 'discouraged';
        return get.call(this, options);
      };`);
    const { session, authenticatorId } = device;
    await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await enter(page, device);
    await unknownPasskey(page);
  });

  test('the sign-in page rejects a recorded sign-in with a passkey', async () => {
    const { page, device } = await withPasskey();
    const [recorded] = await Promise.all([
      page.waitForRequest((request) => request.method() === 'POST'),
      enter(page, device),
    ]);
    await inside(page);
    const { cookie = '' } = await recorded.allHeaders();
    const replay = await fetch(`http://${shop.service.http}${protectedPath}`, {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
      body: recorded.postData(),
      redirect: 'manual',
    });
    expect(await replay.text()).toContain('This page is out of date. Use the passkey again.');
    expect(replay.headers.get('location')).toBeNull();
  });

  test('the sign-in page requires the second factor even if the browser has no passkeys', async () => {
    const { page } = await withPasskey();
    await shop.manage('PATCH', '/api/v2/sign-in-policy', 200, { secondFactor: 'all' });
    await page.addInitScript('delete window.PublicKeyCredential');
    await page.goto(authUrl + protectedPath);
    await typePassword(page);
    await page.getByRole('heading', { name: 'Two-step verification' }).waitFor();
    expect(await page.getByRole('button').allTextContents()).toEqual(['Cancel']);
    await page.goto(authUrl + protectedPath);
    await page.getByRole('heading', { name: 'Two-step verification' }).waitFor();
  });
});

describe('a site of an attacker', () => {
  /** Returns the response of a passkey, on an attacker's page, to the challenge that the attacker's browser got. */
  async function relay(host: string) {
    const { device } = await withPasskey();
    const attacker = new TestBrowser(shop.service.http, '127.0.0.1');
    const options = readOptions(await attacker.open(protectedPath));
    const page = await newPage();
    const { port } = evil.address() as AddressInfo;
    await page.goto(`http://${host}:${port}/`);
    const { session, authenticatorId } = await plugIn(page);
    await session.send('WebAuthn.addCredential', { authenticatorId, credential: await getCredential(device) });
    return { attacker, answer: await page.evaluate(`(${ask})(${JSON.stringify(options)})`) };
  }

  test('an attacker cannot sign in with a passkey response from a subdomain of the auth host', async () => {
    const { attacker, answer } = await relay('evil.auth.localhost');
    expect(answer).toHaveProperty('signature');
    const page = await attacker.submit({ action: 'passkey', ...(answer as Record<string, string>) });
    expect(page.status).toBe(403);
    expect(page.error).toContain('This passkey is unknown here');
  });

  test('an attacker on another domain gets no response from a passkey', async () => {
    const { answer } = await relay('evil.localhost');
    expect(answer).toBe('SecurityError');
  });

  test('a frame of another site does not show the passkey page', async () => {
    const page = await newPage();
    const { port } = evil.address() as AddressInfo;
    await page.goto(`http://evil.localhost:${port}/`);
    const failed = page.waitForEvent('console', (message) => message.text().includes('frame'));
    await page.evaluate(`{
      const frame = document.createElement('iframe');
      frame.allow = 'publickey-credentials-get *; publickey-credentials-create *';
      frame.src = '${authUrl + protectedPath}';
      document.body.append(frame);
    }`);
    expect((await failed).text()).toMatch(/frame-ancestors|X-Frame-Options/);
    expect(page.frames().some((frame) => frame.url().startsWith(authUrl))).toBe(false);
  });
});
