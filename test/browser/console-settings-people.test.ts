import type { CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { cleanUp, createKey, token } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { axeFaults, schemeFaults } from './support/axe.ts';
import { phone, readContent } from './support/chromium.ts';
import { acceptLink, type Console, openConsole, signIn, signInFirst, type Visit } from './support/console.ts';
import { cutTexts, readWidth } from './support/looks.ts';

const { describe, test } = needing('chromium-headless-shell');

let console: Console;

beforeAll(async () => {
  console = await openConsole();
});

afterAll(async () => {
  await console?.close();
  cleanUp();
});

/** Opens a page of the settings as a new user in a separate browser. */
async function visitAs(name: string, role: 'Admin' | 'User', path: string): Promise<Visit & { id: string }> {
  const email = `${name.toLowerCase()}@example.com`;
  const user = { name, email, role, password: 'from the Admin' };
  const made = (await console.manage('POST', '/api/v2/users', 201, user)) as { id: string };
  const visit = await console.visit(path, { signedIn: false });
  await signInFirst(visit.page, email, user.password, `${name}-password`);
  return { ...visit, id: made.id };
}

test("an Admin invites a member by a link that is shown once, changes the member's role, and removes the member", async () => {
  const { page } = await console.visit('/settings/team');
  await page.getByRole('button', { name: 'Invite user to this team' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Grace');
  await dialog.getByLabel('E-mail address').fill(console.credentials.adminEmail);
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await dialog.getByText('Another user already has this e-mail address').waitFor();
  expect(await dialog.getByLabel('E-mail address').getAttribute('aria-invalid')).toBe('true');
  expect(await dialog.getByLabel('Name', { exact: true }).inputValue()).toBe('Grace');
  await dialog.getByLabel('E-mail address').fill('grace@example.com');
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText('This text is shown only once').waitFor();
  const link = await dialog.locator('code').innerText();
  await page.getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('row', { name: 'Grace' });
  await row.getByText('invited, until').waitFor();
  const { page: hers } = await console.visit(link.replace(console.origin, ''), { signedIn: false });
  await acceptLink(hers, 'Accept your invitation', 'the first compiler');
  await hers.goto(`${console.origin}/settings/team`);
  await hers.getByText('Only an Admin can change').waitFor();
  await hers.getByRole('columnheader', { name: 'Member since' }).waitFor();
  expect(await hers.getByRole('button', { name: /Create|Delete|Change|Remove|Save/ }).count()).toBe(0);
  expect(await hers.getByRole('columnheader', { name: /Last sign-in|Second factor/ }).count()).toBe(0);
  await page.reload();
  await row.getByText('now').waitFor();
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export: Members' }).click();
  await page.getByRole('menuitem', { name: 'CSV' }).click();
  const lines = (await readContent(await saving)).toString().trim().split('\r\n');
  expect(lines[0]).toBe('Name,E-mail,Role,Member since,Last sign-in,Second factor');
  expect(lines[2]).toMatch(/^Grace,grace@example\.com,User,\d{4}-\d\d-\d\dT.*Z,\d{4}-\d\d-\d\dT.*Z,none$/);
  await page.getByRole('button', { name: 'Change Grace' }).click();
  await dialog.getByLabel('Role').selectOption('Admin');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('row', { name: 'Grace' }).getByRole('cell', { name: 'Admin', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Remove Grace' }).click();
  await page.getByText('A user without another team is deleted').waitFor();
  await dialog.getByRole('button', { name: 'Remove member', exact: true }).click();
  await page.getByRole('row', { name: 'Grace' }).waitFor({ state: 'detached' });
});

test('an API key works until it is deleted, and its secret is shown only once', async () => {
  const { page } = await console.visit('/settings/team');
  await page.getByRole('button', { name: 'Create access' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Deployment');
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText('This text is shown only once').waitFor();
  const [clientId = '', clientSecret = ''] = await dialog.locator('.copy-line code').allInnerTexts();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  const grant = () => token(console.service.http, { ...console.credentials, clientId, clientSecret });
  expect(await grant()).toMatch(/^ey/);
  await page.getByRole('button', { name: 'Delete access of Deployment' }).click();
  await dialog.getByRole('button', { name: 'Delete access' }).click();
  await page.getByRole('row', { name: 'Deployment' }).waitFor({ state: 'detached' });
  await expect(grant()).rejects.toThrow('401');
});

test('the access page creates an API key that can read only one application and expires at the chosen time', async () => {
  const name = 'Billing reader';
  const path = `/api/v2/teams/${console.credentials.teamId}/api-keys`;
  await console.manage('POST', '/api/v2/applications', 201, { name });
  const { page } = await console.visit('/settings/team');
  await page.getByRole('button', { name: 'Create access' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Authenticates by').selectOption('Platform tokens (GitHub, GitLab, Kubernetes)');
  await dialog.getByLabel('Subject').fill('repo:*/checkout:ref:refs/heads/main');
  expect(await schemeFaults(page)).toEqual([]);
  await dialog.getByLabel('Name', { exact: true }).fill(name);
  await dialog.getByLabel(name).check();
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await dialog.getByText('`trust.subject` must').waitFor();
  await dialog.getByLabel('Authenticates by').selectOption('A secret');
  await dialog.getByLabel('Expires').selectOption('In 30 days');
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  const row = page.getByRole('row', { name });
  await row.getByText(`read in ${name}`).waitFor();
  await row.getByRole('button', { name: 'Rotate' }).click();
  await dialog.getByRole('button', { name: 'Rotate secret' }).click();
  await page.getByText('This text is shown only once').waitFor();
  const [clientId = '', clientSecret = ''] = await dialog.locator('.copy-line code').allInnerTexts();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  expect(await token(console.service.http, { ...console.credentials, clientId, clientSecret })).toMatch(/^ey/);
  const soon = new Date(Date.now() + 86_400_000).toISOString();
  await console.manage('PATCH', `${path}/${clientId}`, 200, { expiresAt: soon });
  await page.reload();
  await row.getByText('(expiring)').waitFor();
  expect(await schemeFaults(page)).toEqual([]);
});

test('the refusal of a redirect URI is shown next to its field, and the input is kept', async () => {
  const { page } = await console.visit('/settings/team');
  await page.getByRole('button', { name: 'Create access' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Kind').selectOption('client');
  await dialog.getByLabel('Name', { exact: true }).fill('Dashboard');
  await dialog.getByLabel('Type').selectOption('confidential');
  const uris = dialog.getByLabel('Redirect URIs');
  await uris.fill('https://dash.example/callback\nhttp://dash.example/');
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await dialog.getByText('`redirectUris[1]` must').waitFor();
  expect(await uris.getAttribute('aria-invalid')).toBe('true');
  expect(await dialog.getByLabel('Type').inputValue()).toBe('confidential');
  await uris.fill('https://dash.example/callback');
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText('This text is shown only once').waitFor();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  const row = page.getByRole('row', { name: 'Dashboard' });
  await row.getByText('sign-in (confidential): https://dash.example/callback').waitFor();
  await row.getByRole('cell', { name: 'sign-in client' }).waitFor();
});

describe('the account of the user', () => {
  test('a user ends another session of their account, and the browser of that session must sign in again', async () => {
    const { page } = await visitAs('Ada', 'Admin', '/settings');
    const other = await console.visit('/settings', { signedIn: false });
    await signIn(other.page, 'ada@example.com', 'Ada-password');
    await other.page.getByRole('row', { name: '(this one)' }).waitFor();
    await page.reload();
    await expect.poll(() => page.getByRole('row', { name: 'flagmeter console' }).count()).toBe(2);
    expect(await page.getByRole('row', { name: '(this one)' }).count()).toBe(1);
    await page.getByRole('button', { name: 'End all other sessions' }).click();
    await page.getByRole('button', { name: 'End session', exact: true }).click();
    await expect.poll(() => page.getByRole('row', { name: 'flagmeter console' }).count()).toBe(1);
    const name = other.page.getByLabel('Name', { exact: true });
    await name.fill('Ada of the other browser');
    await name.press('Enter');
    await other.page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    expect(await name.inputValue()).toBe('Ada of the other browser');
  });

  test('a new password ends all sessions, and the user must sign in again', async () => {
    const { page } = await visitAs('Bob', 'User', '/settings/you');
    const field = (name: string) => page.getByLabel(name, { exact: true });
    const change = page.getByRole('button', { name: 'Change password' });
    await field('Your current password').fill('wrong');
    await field('New password').fill('Bob-password-2');
    await field('New password again').fill('Bob-password-3');
    await change.click();
    await page.getByText('The two new passwords differ').waitFor();
    await field('New password again').fill('Bob-password-2');
    await change.click();
    await page.getByText('currentPassword is not your password').waitFor();
    expect(await field('New password').inputValue()).toBe('Bob-password-2');
    await field('Your current password').fill('Bob-password');
    await change.click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    const opened = page.context().waitForEvent('page');
    await dialog.getByRole('link', { name: 'Sign in again' }).click();
    const tab = await opened;
    await tab.getByLabel('E-mail address').fill('bob@example.com');
    await tab.getByLabel('Password').fill('Bob-password-2');
    await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
  });
});

test('the audit log is filtered, read page by page, and saved as CSV', async () => {
  const made = await console.manage('POST', '/api/v2/applications', 201, { name: 'Audited' });
  const { id } = made as { id: string };
  const access = await token(console.service.http, console.credentials);
  for (let key = 0; key < 55; key += 1) await createKey(console.service.http, access, id, 'Mobile');
  const { page } = await console.visit('/audit');
  await page.getByRole('row', { name: 'key created' }).first().waitFor();
  const rows = page.getByRole('table', { name: 'Audit log' }).locator('tbody tr');
  await page.getByLabel('What', { exact: true }).selectOption('Application keys');
  await expect.poll(() => rows.count()).toBe(50);
  expect(page.url()).toContain('action=key');
  await page.getByRole('button', { name: 'Show more' }).click();
  await expect.poll(() => rows.count()).toBe(55);
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export: Audit log' }).click();
  await page.getByRole('menuitem', { name: 'CSV' }).click();
  const lines = (await readContent(await saving)).toString().trim().split('\r\n');
  expect(lines).toHaveLength(56);
  expect(lines[1]).toMatch(
    /^\d{4}-\d\d-\d\dT.*,First API key,key\.created,Mobile 55,type: none → Mobile,,127\.0\.0\.1,+$/,
  );
  await page.getByLabel('What', { exact: true }).selectOption('Applications');
  await page.getByRole('row', { name: 'application created Audited' }).waitFor();
  await page.getByLabel('To', { exact: true }).fill('2020-01-01');
  await page.getByText('No entries match the filters.').waitFor();
});

const tabs = ['webhooks', 'limits', 'sign-in', 'general'];
const pages = ['you', 'applications', 'team', ...tabs.map((tab) => `team?tab=${tab}`)];

/** Changes the screen of a page to a touch screen, or back to a desktop. The page need not be loaded again. */
async function changeScreen(page: Page, devTools: CDPSession, screen: typeof phone | typeof desktop): Promise<void> {
  const { viewport, isMobile, hasTouch, deviceScaleFactor } = screen;
  await page.setViewportSize(viewport);
  await devTools.send('Emulation.setTouchEmulationEnabled', { enabled: hasTouch });
  await devTools.send('Emulation.setDeviceMetricsOverride', { ...viewport, deviceScaleFactor, mobile: isMobile });
}

const desktop = {
  viewport: { width: 1280, height: 720 },
  deviceScaleFactor: 1,
  isMobile: false,
  hasTouch: false,
} as const;

test('the pages of the settings pass axe-core and fit the screen of a desktop and of a phone', async () => {
  const fields = { name: 'Looked at', allowedOrigins: ['https://*.shop.example', 'http://localhost:*'] };
  const { id } = (await console.manage('POST', '/api/v2/applications', 201, fields)) as { id: string };
  const access = await token(console.service.http, console.credentials);
  await createKey(console.service.http, access, id, 'Backend');
  const { page, context } = await console.visit('/settings/you', { ownContext: true });
  const devTools = await context.newCDPSession(page);
  /** Checks what the page shows on a screen. A phone has other elements, so all rules are checked again. */
  async function check(place: string, screen: typeof phone | typeof desktop) {
    await changeScreen(page, devTools, screen);
    expect(await page.evaluate('matchMedia("(pointer: coarse)").matches')).toBe(screen.hasTouch);
    const faults = await (screen.isMobile ? axeFaults(page) : schemeFaults(page));
    expect(faults, `${place} at ${screen.viewport.width} px`).toEqual([]);
    expect(await readWidth(page), place).toBe(screen.viewport.width);
    expect(await cutTexts(page), place).toEqual([]);
  }
  for (const path of ['/audit', ...pages.map((page) => `/settings/${page}`), `/settings/application?app=${id}`]) {
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(console.origin + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    for (const screen of [desktop, phone]) await check(path, screen);
  }
  const dialog = page.getByRole('dialog');
  for (const name of ['Create key', 'Delete application Looked at']) {
    await page.getByRole('button', { name }).click();
    await dialog.waitFor();
    for (const screen of [phone, desktop]) {
      await changeScreen(page, devTools, screen);
      expect(await schemeFaults(page)).toEqual([]);
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  }
});

test('an unknown page of the settings shows "Not found"', async () => {
  const { page } = await console.visit('/settings/nothing');
  for (const path of ['nothing', 'team?team=team_0', 'application?app=app_0', 'application']) {
    await page.goto(`${console.origin}/settings/${path}`);
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
  }
});

test('the page of a team tells the reader that they are not in the team', async () => {
  const { id } = (await console.manage('POST', '/api/v2/teams', 201, { name: 'Others' })) as { id: string };
  const { page } = await visitAs('Eva', 'User', `/settings/team?team=${id}`);
  await page.getByRole('heading', { name: 'Not in your teams' }).waitFor();
  await page.getByText('An Admin of that team can add you').waitFor();
});
