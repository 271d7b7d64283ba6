import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { type ClientUrls, type OidcProvider, oidcClient, startOidcProvider } from '../support/oidc-provider.ts';
import { axeFaults } from './support/axe.ts';
import { type Console, openConsole } from './support/console.ts';
import { readWidth } from './support/looks.ts';

const { test } = needing('chromium-headless-shell');

let console: Console;
let provider: OidcProvider;
let team: string;

beforeAll(async () => {
  [console, provider] = await Promise.all([openConsole(['--issuer-allow-private']), startOidcProvider()]);
  team = console.credentials.teamId;
  const urls = (await console.manage('POST', '/api/v2/identity-providers', 201, {
    name: 'Corp',
    issuer: provider.issuer,
    ...oidcClient,
    createUsers: true,
    defaultTeam: team,
    scopes: ['openid', 'email', 'profile', 'groups'],
    claimRules: [{ claim: 'groups', value: 'flag-admins', team, role: 'Admin' }],
  })) as ClientUrls;
  provider.register(urls);
});

afterAll(async () => {
  await Promise.all([console?.close(), provider?.close()]);
  cleanUp();
});

/** The provider's pages load a font, which is not reachable in tests. */
const expected = /ERR_NAME_NOT_RESOLVED|ERR_INTERNET_DISCONNECTED/;

/** Opens the sign-in page of the provider, and signs in. */
async function enterAtProvider(page: Page, login: string): Promise<void> {
  await page.getByRole('link', { name: 'Sign in with Corp' }).click();
  await fillIn(page, login);
}

/** Fills in the sign-in page of the provider. */
async function fillIn(page: Page, login: string): Promise<void> {
  await page.locator('input[name=login]').fill(login);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

async function readRoles(login: string): Promise<unknown> {
  const { items } = (await console.manage('GET', '/api/v2/users?limit=200', 200)) as {
    items: { email: string; teamRoles: Record<string, string> }[];
  };
  return items.find(({ email }) => email === `${login}@corp.example`)?.teamRoles;
}

test('a user signs in with a provider, gets a role from their groups, and signs out of service and provider', async () => {
  provider.groups.set('grace', ['flag-admins']);
  const { page } = await console.visit('/', { signedIn: false, expected });
  await page.getByRole('link', { name: 'Sign in with Corp' }).waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await enterAtProvider(page, 'grace');
  await page.getByRole('button', { name: /grace/ }).click();
  expect(await readRoles('grace')).toEqual({ [team]: 'Admin' });
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: /Yes/ }).click();
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
  provider.groups.set('grace', []);
  await page.goto(`${console.origin}/`);
  await enterAtProvider(page, 'grace');
  await page.getByRole('button', { name: /grace/ }).waitFor();
  expect(await readRoles('grace')).toEqual({ [team]: 'User' });
});

test('an invited user links an account at the provider, and the page "You" lists this account', async () => {
  const guest = { name: 'Guest', email: 'guest@example.com' };
  const made = (await console.manage('POST', '/api/v2/users', 201, guest)) as { invitation: { url: string } };
  const options = { signedIn: false, expected, colorScheme: 'dark' } as const;
  const { page } = await console.visit(made.invitation.url.replace(console.origin, ''), options);
  const choice = page.getByRole('button', { name: 'Continue with Corp' });
  await choice.waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await choice.click();
  await fillIn(page, 'hopper');
  await page.getByRole('button', { name: /guest/i }).waitFor();
  await page.goto(`${console.origin}/settings/you`);
  await page.getByRole('table', { name: 'Linked accounts' }).getByText('hopper@corp.example').waitFor();
  await page.getByRole('button', { name: 'Unlink account at Corp' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Unlink account' }).click();
  await page.getByText('you could no longer sign in').waitFor();
  expect(await axeFaults(page)).toEqual([]);
});

test('an administrator adds a provider, and tests its connection', async () => {
  const { page } = await console.visit('/settings/sign-in');
  await page.getByRole('button', { name: 'Test connection to Corp' }).click();
  await page.getByText(/The provider responds, and has \d+ keys?/).waitFor();
  expect(await page.getByText('/callback').textContent()).toContain('/connect/providers/provider_');
  expect(await axeFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Close', exact: true }).click();
  await page.getByRole('button', { name: 'Add identity provider' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Nowhere');
  await page.getByLabel('Issuer').fill('http://127.0.0.1:1');
  await page.getByLabel('Client id').fill('flagmeter');
  expect(await axeFaults(page)).toEqual([]);
  await page.getByLabel('Client id').press('Enter');
  await page.getByRole('button', { name: 'Test connection to Nowhere' }).click();
  await page.getByText('provider_unreachable').waitFor();
});

test('an administrator sets the rules for a provider and for passwords', async () => {
  const options = { colorScheme: 'dark', viewport: { width: 320, height: 640 } } as const;
  const { page } = await console.visit('/settings/sign-in', options);
  await page.getByRole('button', { name: 'Change Corp' }).click();
  await page.getByLabel('Link by e-mail address').check();
  await page.getByRole('button', { name: 'Add rule' }).click();
  const rule = page.getByRole('group', { name: 'rule 2' });
  await rule.getByLabel('Claim').fill('groups');
  await rule.getByLabel('Value').fill('readers');
  await rule.getByLabel('Role').selectOption('Viewer');
  expect(await axeFaults(page)).toEqual([]);
  expect(await readWidth(page)).toBe(320);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const { items } = (await console.manage('GET', '/api/v2/identity-providers', 200)) as { items: object[] };
  expect(items[0]).toMatchObject({
    linkByEmail: true,
    claimRules: [
      { claim: 'groups', value: 'flag-admins', team, role: 'Admin' },
      { claim: 'groups', value: 'readers', team, role: 'Viewer' },
    ],
  });
  await page.getByLabel('Who may sign in with a password').selectOption('break-glass');
  await page.getByRole('button', { name: 'Save password rules' }).click();
  await page.getByText('`breakGlass` must list an Admin').waitFor();
  const group = page.getByRole('group', { name: 'Who may always use a password' });
  await group.getByRole('checkbox').first().check();
  await page.getByRole('button', { name: 'Add domain' }).click();
  await page.getByLabel('Domain', { exact: true }).fill('corp @ example');
  await page.getByRole('button', { name: 'Save password rules' }).click();
  await page.getByText('`domains` must').waitFor();
  await page.getByLabel('Domain', { exact: true }).fill('corp.example');
  expect(await axeFaults(page)).toEqual([]);
  expect(await readWidth(page)).toBe(320);
  await page.getByRole('button', { name: 'Save password rules' }).click();
  await page.getByText('Password rules saved', { exact: true }).first().waitFor();
  expect(await console.manage('GET', '/api/v2/sign-in-policy', 200)).toMatchObject({
    passwords: 'break-glass',
    breakGlass: [expect.any(String)],
    domains: [{ domain: 'corp.example', providerId: expect.any(String) }],
  });
  await page.getByRole('button', { name: 'Remove domain 1' }).click();
  await page.getByLabel('Who may sign in with a password').selectOption('everyone');
  await page.getByRole('button', { name: 'Save password rules' }).click();
  await expect
    .poll(() => console.manage('GET', '/api/v2/sign-in-policy', 200))
    .toMatchObject({ passwords: 'everyone', domains: [] });
});
