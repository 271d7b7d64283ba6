import { afterAll, beforeAll, expect } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { axeFaults, schemeFaults } from './support/axe.ts';
import { phone } from './support/chromium.ts';
import { acceptLink, type Console, openConsole } from './support/console.ts';
import { readWidth } from './support/looks.ts';

const { describe, test } = needing('chromium-headless-shell');

let console: Console;

beforeAll(async () => {
  console = await openConsole();
});

afterAll(async () => {
  await console?.close();
  cleanUp();
});

let people = 0;

/** Invites a user. @returns the path of the invitation link, including its secret */
async function invite(): Promise<string> {
  const user = { name: `Guest ${++people}`, email: `guest${people}@example.com` };
  const made = (await console.manage('POST', '/api/v2/users', 201, user)) as { invitation: { url: string } };
  return made.invitation.url.replace(console.origin, '');
}

describe('the link of an invitation', () => {
  test('the link of an invitation leads to the console, and no request address contains its secret', async () => {
    const path = await invite();
    const secret = path.split('#')[1]!;
    const { page, context } = await console.visit('/connect/invitation', { signedIn: false });
    const addresses: string[] = [];
    context.on('request', (request) => addresses.push(request.url(), JSON.stringify(request.headers())));
    await page.goto(`${console.origin}${path}`);
    await page.reload();
    await page.getByRole('heading', { name: 'Accept your invitation' }).waitFor();
    expect(page.url()).toBe(`${console.origin}/connect/invitation`);
    await acceptLink(page, 'Accept your invitation', 'the first compiler');
    await page.goto(`${console.origin}/settings/you`);
    await page.getByText(`guest${people}@example.com`).first().waitFor();
    expect(addresses.filter((text) => text.replace(/#.*/, '').includes(secret))).toEqual([]);
    expect(console.service.stderr()).not.toContain(secret);
  });

  test('an invitation without JavaScript works if the user pastes the link', async () => {
    const link = `${console.origin}${await invite()}`;
    const options = { signedIn: false, javaScriptEnabled: false };
    const { page } = await console.visit('/connect/invitation', options);
    await page.getByLabel('Link').fill(link);
    await page.keyboard.press('Enter');
    await page.getByLabel('New password, at least').fill('the first compiler');
    await page.getByLabel('New password again').fill('the second compiler');
    await page.keyboard.press('Enter');
    await page.getByText('The two passwords differ').waitFor();
    await page.getByLabel('New password, at least').fill('the first compiler');
    await page.getByLabel('New password again').fill('the first compiler');
    await page.getByRole('button', { name: 'Save and sign in' }).click();
    await page.waitForURL((url) => !url.pathname.startsWith('/connect'));
    expect((await page.context().cookies()).map(({ name }) => name)).toContain('flagmeter');
  });

  test('the pages of an invitation are accessible in light and dark mode, even on a phone', async () => {
    const { page } = await console.visit(await invite(), { ...phone, signedIn: false });
    await page.getByRole('heading', { name: 'Accept your invitation' }).waitFor();
    expect(await schemeFaults(page)).toEqual([]);
    expect(await readWidth(page)).toBeLessThanOrEqual(phone.viewport.width);
    await page.goto(`${console.origin}/connect/invitation`);
    await page.getByLabel('Link').fill('x');
    await page.keyboard.press('Enter');
    await page.getByText('This link is not valid').waitFor();
    expect(await schemeFaults(page)).toEqual([]);
  });
});

test('an administrator creates a link that resets a password, and withdraws another link', async () => {
  await console.manage('POST', '/api/v2/users', 201, {
    name: 'Hopper',
    email: 'hopper@example.com',
    password: 'for the first time',
  });
  const { page } = await console.visit('/settings/team', { colorScheme: 'dark' });
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Sign-ins of Hopper' }).click();
  await dialog.getByRole('button', { name: 'Reset password' }).click();
  await dialog.getByRole('heading', { name: 'Reset password of Hopper' }).waitFor();
  await dialog.getByLabel('End all sessions now').check();
  expect(await axeFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Create link' }).click();
  await dialog.getByText('The link is valid once').waitFor();
  expect(await axeFaults(page)).toEqual([]);
  const link = await dialog.locator('code').innerText();
  await dialog.getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('row', { name: 'Hopper' });
  await row.getByText('reset link, until').waitFor();
  await page.getByRole('button', { name: 'Sign-ins of Hopper' }).click();
  await dialog.getByRole('button', { name: 'Reset password' }).click();
  await dialog.getByRole('button', { name: 'Withdraw link' }).click();
  await row.getByText('reset link, until').waitFor({ state: 'detached' });
  const hers = await console.visit(link.replace(console.origin, ''), { signedIn: false });
  await hers.page.getByText('This link is not valid').waitFor();
});
