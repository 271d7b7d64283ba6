import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { freePort } from '../../src/http/bind-failure.ts';
import { readOptions } from '../auth/passkey-fixture.ts';
import { TestBrowser } from '../auth/test-browser.ts';
import { Authenticator } from '../support/authenticator.ts';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { axeFaults, schemeFaults } from './support/axe.ts';
import { type Console, openConsole } from './support/console.ts';

const { test } = needing('chromium-headless-shell');

let shop: Console;

beforeAll(async () => {
  const port = await freePort('127.0.0.1', 0);
  // The console and the sign-in page are on different sites.
  shop = await openConsole([
    ...['--listen', `127.0.0.1:${port}`],
    ...['--auth-url', `http://localhost:${port}`, '--base-url', `http://127.0.0.1:${port}`],
  ]);
});

afterAll(async () => {
  await shop?.close();
  cleanUp();
});

interface VirtualAuthenticator {
  /** Sets whether the user touches the authenticator when the browser asks. */
  touch(enabled: boolean): Promise<unknown>;
}

/** Connects a virtual authenticator to a page. By default, it verifies its user and stores discoverable credentials. */
async function plugIn(page: Page, options: object = {}): Promise<VirtualAuthenticator> {
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
  return { touch: (enabled) => session.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled }) };
}

/** Adds a passkey on the reader's account page. */
async function addFrom(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name: 'Add passkey' }).click();
  await page.getByLabel('Name (optional)').fill(name);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('row', { name }).waitFor();
}

/** Signs out in the browser, and opens the account page, which requires a new sign-in. */
async function signOut(page: Page): Promise<void> {
  await page.context().clearCookies();
  await page.goto(`${shop.origin}/settings/you`);
}

const account = (page: Page) => page.getByRole('heading', { name: 'You', exact: true });
const signInButton = (page: Page) => page.getByRole('button', { name: 'Sign in with a passkey' });

test('a user adds a passkey, renames it, signs in with it without a password, and removes it', async () => {
  const { page } = await shop.visit('/settings/you', { ownSession: true });
  const { touch } = await plugIn(page);
  await addFrom(page, 'Laptop');
  expect(new URL(page.url()).hostname).toBe('127.0.0.1');
  await page.getByRole('button', { name: 'Rename passkey Laptop' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Desk');
  await page.getByRole('button', { name: 'Save name' }).click();
  await page.getByRole('row', { name: 'Desk' }).getByText('Never').waitFor();
  await signOut(page);
  // The browser suggests the passkey in the field of the e-mail address, and the virtual authenticator chooses it by
  // itself.
  await account(page).waitFor();
  await page.getByRole('link', { name: 'Add passkey' }).click();
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('status').getByText('This device has a passkey for this account already.').waitFor();
  await touch(false);
  await signOut(page);
  await signInButton(page).waitFor();
  await touch(true);
  await signInButton(page).click();
  await account(page).waitFor();
  await touch(false);
  await page.getByRole('button', { name: 'Remove passkey Desk' }).click();
  await page.getByRole('button', { name: 'Remove passkey', exact: true }).click();
  await page.getByRole('row', { name: 'Desk' }).waitFor({ state: 'detached' });
  await signOut(page);
  await signInButton(page).waitFor();
  await touch(true);
  await signInButton(page).click();
  await page.getByRole('alert').getByText('This passkey is unknown here').waitFor();
});

/** A security key without a PIN. It does not verify its user, and stores no credentials. */
const securityKey = { transport: 'usb', hasResidentKey: false, hasUserVerification: false, isUserVerified: false };

test('a security key works as the second factor, and its pages are accessible and work by keyboard', async () => {
  await shop.manage('PATCH', '/api/v2/sign-in-policy', 200, { secondFactor: 'all' });
  const { page } = await shop.visit('/settings/you', { signedIn: false });
  await plugIn(page, securityKey);
  await signInButton(page).waitFor();
  expect(await schemeFaults(page)).toEqual([]);
  await typePassword(page);
  await page.getByRole('heading', { name: 'Set up two-step verification' }).waitFor();
  expect(await schemeFaults(page)).toEqual([]);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByText('On one device').waitFor();
  expect(await schemeFaults(page)).toEqual([]);
  await page.goto(`http://localhost:${new URL(shop.origin).port}/connect/passkey`);
  await page.getByRole('heading', { name: 'Add a passkey' }).waitFor();
  expect(await schemeFaults(page)).toEqual([]);
  await signOut(page);
  await typePassword(page);
  await page.getByRole('heading', { name: 'Two-step verification' }).waitFor();
  expect(await schemeFaults(page)).toEqual([]);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await account(page).waitFor();
  await removeAll();
});

/** Fills in the sign-in page. */
async function typePassword(page: Page): Promise<void> {
  const { adminEmail, adminPassword } = shop.credentials;
  await page.getByLabel('E-mail address').fill(adminEmail);
  await page.getByLabel('Password').fill(adminPassword);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Removes the passkeys of the Admin, and the policy for second factors. */
async function removeAll(): Promise<void> {
  await shop.manage('PATCH', '/api/v2/sign-in-policy', 200, { secondFactor: 'optional' });
  const { items } = (await shop.manage('GET', '/api/v2/users', 200)) as { items: { id: string }[] };
  const path = `/api/v2/users/${items[0]!.id}/passkeys`;
  const { items: own } = (await shop.manage('GET', path, 200)) as { items: { id: string }[] };
  for (const { id } of own) await shop.manage('DELETE', `${path}/${id}`, 204);
}

test('an Admin removes the lost passkey of a user', async () => {
  const email = 'grace@example.com';
  const given = 'the first compiler';
  const password = 'another compiler, later';
  const body = { email, name: 'Grace', password: given };
  const { id } = (await shop.manage('POST', '/api/v2/users', 201, body)) as { id: string };
  const { origin } = new URL(shop.origin.replace('127.0.0.1', 'localhost'));
  const browser = new TestBrowser(shop.service.http, '127.0.0.1');
  await browser.open('/connect/passkey');
  await browser.submit({ email, password: given });
  const options = readOptions(await browser.submit({ action: 'new-password', password, again: password }));
  const device = new Authenticator(origin, { id: randomBytes(16) });
  await browser.submit({ action: 'add-passkey', ...device.create(options) });
  const { page } = await shop.visit('/settings/team', { ownSession: true });
  await page.getByRole('button', { name: 'Sign-ins of Grace' }).click();
  const remove = page.getByRole('button', { name: 'Remove passkeys and authenticator app of Grace' });
  await remove.click();
  expect(await axeFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Remove factors', exact: true }).click();
  await remove.waitFor({ state: 'detached' });
  expect(await shop.manage('GET', `/api/v2/users/${id}/passkeys`, 200)).toEqual({ items: [] });
});
