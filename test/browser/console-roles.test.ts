import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { addOldSessions, type OldSessions } from '../support/old-session.ts';
import { axeFaults, schemeFaults } from './support/axe.ts';
import { type Console, openConsole, openSender, signInFirst, type Visit } from './support/console.ts';

const { describe, test } = needing('chromium-headless-shell');

let console: Console;
let old: OldSessions;
let featuresAddress: string;

beforeAll(async () => {
  console = await openConsole([], async (data) => {
    old = await addOldSessions(data);
  });
  const sender = await openSender(console, 'Shop');
  featuresAddress = `/apps/${sender.application}/Production`;
  const features = `/api/v2/applications/${sender.application}/features`;
  await console.manage('POST', features, 201, { name: 'checkout' });
  await console.manage('POST', `${features}/checkout/notes`, 201, { text: 'Rollout' });
});

afterAll(async () => {
  await console?.close();
  cleanUp();
});

/** Adds a user with a role, and opens a page in the user's session. */
async function visitAs(name: string, role: string, path: string): Promise<Visit & { id: string }> {
  const email = `${name.toLowerCase()}@example.com`;
  const user = { name, email, role, password: 'from the Admin' };
  const made = (await console.manage('POST', '/api/v2/users', 201, user)) as { id: string };
  const visit = await console.visit(path, { signedIn: false });
  await signInFirst(visit.page, email, user.password, 'a secret of their own');
  return { ...visit, id: made.id };
}

const writing = /^(Add|Archive|Change|Create|Declare|Delete|End|Forget|Invite|Keep|Remove|Save)/;

test('a Viewer sees no controls that change anything', async () => {
  const { page } = await visitAs('Vera', 'Viewer', `${featuresAddress}/flags`);
  const pages = [
    [`${featuresAddress}/flag?name=checkout`, 'Rollout'],
    [`${featuresAddress}/flag?name=checkout&tab=settings`, 'Only Users and Admins can change'],
    [`${featuresAddress}/metrics`, 'No metric'],
    ['/settings/applications', 'Only an Admin can change'],
    ['/settings/team', 'Only an Admin can change'],
    ['/settings/sign-in', 'This requires an Admin of the first team'],
  ] as const;
  for (const [path, text] of pages) {
    await page.goto(console.origin + path);
    await page.getByText(text).first().waitFor();
    expect(await page.getByRole('button', { name: writing }).allInnerTexts(), path).toEqual([]);
    expect(await axeFaults(page), path).toEqual([]);
  }
});

test('an Admin gives a member another role in the team', async () => {
  const { page: theirs, id } = await visitAs('Vico', 'Viewer', `${featuresAddress}/flag?name=checkout`);
  await theirs.getByRole('region', { name: 'Activity' }).getByText('Rollout').waitFor();
  expect(await theirs.getByRole('button', { name: 'Add note' }).count()).toBe(0);
  const { page } = await console.visit('/settings/team');
  await page.getByLabel('Role of Vico').selectOption('User');
  await page.getByText('Changed role of Vico').first().waitFor();
  expect(await console.manage('GET', `/api/v2/users/${id}`, 200)).toMatchObject({
    role: 'Viewer',
    teamRoles: { [console.credentials.teamId]: 'User' },
  });
  await theirs.reload();
  await theirs.getByRole('button', { name: 'Add note' }).waitFor();
});

/** Opens a page in a session that began an hour ago. */
function visitLater(path: string): Promise<Visit> {
  const { hostname, port } = new URL(console.origin);
  const cookie = {
    name: `flagmeter-console-${port}`,
    value: old.cookie,
    domain: hostname,
    path: '/',
    expires: -1,
    httpOnly: true,
    secure: false,
    sameSite: 'Strict' as const,
  };
  return console.visit(path, { signedIn: false, storageState: { cookies: [cookie], origins: [] } });
}

const confirmation = (page: Page) => page.getByRole('dialog', { name: 'Confirm that it is you' });

async function createKey(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Create access' }).click();
  const form = page.getByRole('dialog', { name: 'Create access' });
  await form.getByLabel('Name', { exact: true }).fill('Deployment');
  await form.getByRole('button', { name: 'Create', exact: true }).click();
  await confirmation(page).waitFor();
}

describe('a dangerous change after an old sign-in', () => {
  test('cancelling the new sign-in that a dangerous change requires after an old sign-in changes nothing', async () => {
    const { page } = await visitLater('/settings/team');
    await createKey(page);
    expect(await schemeFaults(page)).toEqual([]);
    await confirmation(page).getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Nothing was changed, because you did not sign in again').waitFor();
    const form = page.getByRole('dialog', { name: 'Create access' });
    expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('Deployment');
  });

  test('the new sign-in that a dangerous change requires completes the change, and replaces the session', async () => {
    const { page, context } = await visitLater('/settings/team');
    await createKey(page);
    const [popup] = await Promise.all([
      context.waitForEvent('page'),
      confirmation(page).getByRole('link', { name: 'Sign in again' }).click(),
    ]);
    await popup.getByLabel('E-mail address').fill(console.credentials.adminEmail);
    await popup.getByLabel('Password').fill(console.credentials.adminPassword);
    await popup.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('This text is shown only once').waitFor();
    const again = await visitLater('/settings/team');
    await again.page.waitForURL(/\/connect\/authorize/);
  });
});
