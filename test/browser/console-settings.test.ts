import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { cleanUp, startBinary, stop } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { type Console, openConsole, signIn } from './support/console.ts';

const { describe, test } = needing('chromium-headless-shell');

let console: Console;

beforeAll(async () => {
  console = await openConsole();
});

afterAll(async () => {
  await console?.close();
  cleanUp();
});

/** Creates an application, and opens its settings. */
async function open(name: string, fields: object = {}) {
  const made = await console.manage('POST', '/api/v2/applications', 201, { name, ...fields });
  const { id } = made as { id: string };
  const { page } = await console.visit(`/settings/application?app=${id}`);
  await page.getByRole('heading', { name, level: 1 }).waitFor();
  return { id, page, path: `/api/v2/applications/${id}` };
}

/** Sends a report as a server. @returns the status of the response */
async function report(key: string): Promise<number> {
  const response = await fetch(`${console.origin}/api/usage/stats`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ appKey: key, environment: 'Production', time: new Date().toISOString(), stats: [] }),
  });
  return response.status;
}

/** Creates a Backend key on the page. @returns the text of the key, which the open dialog still shows */
async function createBackendKey(page: Page, name: string): Promise<string> {
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Backend').check();
  await dialog.getByLabel('Name', { exact: true }).fill(name);
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('dialog', { name: `Copy key ${name} now` }).waitFor();
  return page.getByRole('dialog').locator('code').innerText();
}

describe('keys', () => {
  test('the text of a Backend key is shown only once, when its application is created', async () => {
    const { page } = await console.visit('/settings/applications');
    await page.getByRole('button', { name: 'Create application' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Created here');
    await dialog.getByLabel('Environments').fill('Production\n\n Test ');
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: 'Created here', level: 1 }).waitFor();
    const environments = page.getByRole('table', { name: 'Environments' }).locator('a');
    await expect.poll(() => environments.allInnerTexts()).toEqual(['Production', 'Test']);
    const key = await createBackendKey(page, 'Billing');
    expect(key).toMatch(/^fm_be_\w{40}$/);
    // Pressing Escape once or twice does not close the dialog.
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog').locator('code').innerText()).toBe(key);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'Billing', exact: true }).waitFor();
    expect(await page.content()).not.toContain(key);
    expect(await page.getByRole('row', { name: 'Billing' }).innerText()).toContain(key.slice(0, 12));
    expect(await report(key)).toBe(200);
  });

  test('the old and the new key both work during a rotation, until the old key is deleted', async () => {
    const { page } = await open('Rotated');
    const old = await createBackendKey(page, 'Server');
    await page.getByRole('button', { name: 'I have stored it' }).click();
    expect(await report(old)).toBe(200);
    await page.getByRole('button', { name: 'Rotate key Server' }).click();
    await page.getByRole('button', { name: 'Create new key' }).click();
    const dialog = page.getByRole('dialog');
    await page.getByRole('dialog', { name: 'Copy key Server now' }).waitFor();
    const fresh = await dialog.locator('code').innerText();
    expect(fresh).not.toBe(old);
    await dialog.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('dialog', { name: 'Switch to new key' }).waitFor();
    expect(await report(old)).toBe(200);
    expect(await report(fresh)).toBe(200);
    await dialog.getByText('A sender still uses the key').waitFor();
    await dialog
      .getByRole('row', { name: 'New' })
      .getByText(/now|ago/)
      .waitFor();
    await dialog.getByRole('button', { name: 'Delete old key' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await report(old)).toBe(404);
    expect(await report(fresh)).toBe(200);
    const rows = (table: string) => page.getByRole('table', { name: table, exact: true }).getByRole('row');
    await expect.poll(() => rows('Keys').filter({ hasText: 'Server' }).count()).toBe(1);
    await rows('Revoked keys').filter({ hasText: 'Server' }).waitFor();
  });

  test('a leaked Backend key is shown with its refused messages and the remedy', async () => {
    const { page } = await open('Leaky');
    const k = await createBackendKey(page, 'Oops');
    await page.getByRole('button', { name: 'I have stored it' }).click();
    const headers = { 'content-type': 'application/json', origin: 'https://shop.example' };
    const body = JSON.stringify({ k, e: 'Production' });
    const response = await fetch(`${console.origin}/api/frontend/telemetry`, { method: 'POST', headers, body });
    expect(response.status).toBe(404);
    await page.reload();
    const note = page.getByRole('note');
    await note.getByText(/The Backend key Oops \(fm_be_\w+…\) has leaked/).waitFor();
    await note.getByText('1 message with this key was refused').waitFor();
    const row = page.getByRole('row', { name: /Oops Backend .* never 1, last .*: leaked/ });
    await row.waitFor();
    expect(await row.getAttribute('aria-current')).toBeNull();
    await page.goto(`${page.url()}&key=leaked`);
    await page.locator('tr[aria-current]', { hasText: 'Oops' }).waitFor();
    await note.getByRole('button', { name: 'Replace key Oops' }).click();
    await page
      .getByRole('dialog', { name: 'Rotate key Oops' })
      .getByText(/Oops was never accepted, but 1 message with this key was refused \(leaked\)/)
      .waitFor();
  });
});

describe('allowed origins', () => {
  test('the form for allowed origins previews, saves, tests and removes origins', async () => {
    const { page, path } = await open('Origins');
    const field = page.getByLabel('New origin');
    await field.fill('https://*.shop.example');
    await page.getByText('at any depth: https://www.shop.example').waitFor();
    await field.press('Enter');
    await page.getByRole('row', { name: 'https://*.shop.example' }).waitFor();
    await expect.poll(() => field.inputValue()).toBe('');
    const tried = page.getByLabel('Origin of a page');
    await tried.fill('https://shop.example');
    await tried.press('Enter');
    await page.getByText(/^Refused: /).waitFor();
    await tried.fill('https://www.shop.example');
    await tried.press('Enter');
    await page.getByText(/^Allowed: .*https:\/\/\*\.shop\.example/).waitFor();
    await page.getByRole('button', { name: 'Remove https://*.shop.example' }).click();
    await page.getByText('pages of every origin may send with your keys').waitFor();
    await page.getByRole('button', { name: 'Remove origin' }).click();
    await page.getByText('No entries. Pages of every origin may send.').waitFor();
    expect(await console.manage('GET', path, 200)).toMatchObject({ allowedOrigins: [] });
  });

  test('the refusal of an allowed origin is shown next to its field', async () => {
    const { page } = await open('Refused');
    const field = page.getByLabel('New origin');
    await field.fill('https://shop.example/cart');
    await page.getByText('An origin ends after the host and the port: https://shop.example').waitFor();
    await field.press('Enter');
    await page.getByText('`allowedOrigins[0]` must').waitFor();
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    const described = (await field.getAttribute('aria-describedby'))!.split(' ').at(-1)!;
    expect(await page.locator(`[id="${described}"]`).innerText()).toContain('`allowedOrigins[0]` must');
    expect(await field.inputValue()).toBe('https://shop.example/cart');
  });
});

test('the refusal of a duplicate environment name is next to its field, and deletion requires typing the name', async () => {
  const { page, path } = await open('Environments', { environments: ['Production', 'Staging'] });
  const field = page.getByLabel('New environment');
  await field.fill('Staging');
  await field.press('Enter');
  await page.getByRole('alert').getByText('already has an environment of this name').waitFor();
  expect(await field.getAttribute('aria-invalid')).toBe('true');
  expect(await page.locator(':focus').inputValue()).toBe('Staging');
  await page.getByRole('button', { name: 'Delete environment Staging' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Type Staging to confirm').fill('staging');
  await dialog.getByRole('button', { name: 'Delete environment' }).click();
  expect(await console.manage('GET', path, 200)).toMatchObject({ environments: { length: 2 } });
  await dialog.getByLabel('Type Staging to confirm').fill('Staging');
  await dialog.getByRole('button', { name: 'Delete environment' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page
    .getByRole('status')
    .getByText(/Deleted Staging|Removed the data of Staging/)
    .waitFor();
  await field.press('Enter');
  await page.getByRole('row', { name: 'Staging' }).waitFor();
});

describe('a conflict with another change', () => {
  test.each([
    ['Discard my changes', 'Theirs'],
    ['Save my changes', 'Mine'],
  ])('the choice "%s" keeps the value "%s" after another user has changed the same setting', async (choice, left) => {
    const { page, path } = await open('Contested');
    const toggle = page.getByLabel('Accept client-generated identities for metrics');
    await console.manage('PATCH', path, 200, { name: 'Theirs', acceptClientIdentities: true });
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('Mine');
    await name.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Someone else changed this while you edited it' });
    await dialog.waitFor();
    expect(await dialog.getByRole('row').allInnerTexts()).toEqual([
      'Setting\tBefore\tNow\tYours',
      'Name\tContested\tTheirs\tMine',
      'Accept client identities\toff\ton\tunchanged',
    ]);
    await dialog.getByRole('button', { name: choice }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => name.inputValue()).toBe(left);
    await expect.poll(() => toggle.isChecked()).toBe(true);
    expect(await console.manage('GET', path, 200)).toMatchObject({ name: left, acceptClientIdentities: true });
  });
});

test('a settings form keeps its input while the server is down, and saves it afterwards', async () => {
  const { data } = console.service;
  const other = await openConsole();
  onTestFinished(() => other.close());
  expect(other.service.data).not.toBe(data);
  const { page } = await other.visit('/settings/team?tab=general', { expected: /Failed to load resource: net::ERR_/ });
  const name = page.getByLabel('Name', { exact: true });
  await name.fill('Renamed in the dark');
  await stop(other.service);
  await name.press('Enter');
  await page.getByText('The server cannot be reached. Nothing was changed; try again.').first().waitFor();
  expect(await name.inputValue()).toBe('Renamed in the dark');
  const args = ['--listen', other.service.http];
  const again = await startBinary({ data: other.service.data, args });
  onTestFinished(() => void stop(again));
  await name.press('Enter');
  await page.getByText('Name saved').first().waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Team Renamed in the dark' }).waitFor();
});

test('the rate limit of an application can be changed, and reset to the default', async () => {
  const { page, path } = await open('Fast');
  const rate = page.getByLabel('Packets and reports per second');
  const burst = page.getByLabel('Burst size in packets and reports');
  const save = page.getByRole('button', { name: 'Save rate limits' });
  await page.getByText('If empty: 10,000 (--rate)').waitFor();
  await rate.fill('2.5');
  await burst.fill('0');
  await save.click();
  await page.getByText('`burst` must be at least 1').waitFor();
  expect(await burst.getAttribute('aria-invalid')).toBe('true');
  await burst.fill('5');
  await save.click();
  await page.getByText('Rate limits saved').first().waitFor();
  expect(await console.manage('GET', path, 200)).toMatchObject({ rate: 2.5, burst: 5 });
  await rate.fill('');
  await save.click();
  await expect.poll(() => console.manage('GET', path, 200)).toMatchObject({ rate: null, burst: 5 });
});

test('an application is deleted after its name is typed, and its keys stop working', async () => {
  const { page, id } = await open('Doomed');
  const key = await createBackendKey(page, 'Server');
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('button', { name: 'Delete application Doomed' }).click();
  await page.getByLabel('Type Doomed to confirm').fill('Doomed');
  await page.getByRole('button', { name: 'Delete application', exact: true }).click();
  await page.waitForURL(/\/settings\/applications$/);
  expect(await report(key)).toBe(404);
  await page.goto(`${console.origin}/settings/application?app=${id}`);
  await page.getByRole('heading', { name: 'Not found' }).waitFor();
});

test('the form of an application shows a refusal by the limit of the pricing tier next to its field', async () => {
  const other = await openConsole();
  onTestFinished(() => other.close());
  const team = `/api/v2/teams/${other.credentials.teamId}`;
  await other.manage('PATCH', team, 200, { plan: 'free' });
  for (const name of ['A', 'B', 'C']) await other.manage('POST', '/api/v2/applications', 201, { name });
  const { page } = await other.visit('/settings/applications', { signedIn: false });
  await signIn(page, other.credentials.adminEmail, other.credentials.adminPassword);
  await page.getByRole('button', { name: 'Create application' }).click();
  const name = page.getByRole('dialog').getByLabel('Name', { exact: true });
  await name.fill('D');
  await name.press('Enter');
  await page.getByText('The plan free allows no more than 3 applications in a team').waitFor();
  expect(await name.getAttribute('aria-invalid')).toBe('true');
  await page.goto(`${other.origin}/settings/team?tab=limits`);
  const used = page.getByRole('row', { name: 'applications in a team' });
  await expect.poll(() => used.innerText()).toMatch(/3\s+3/);
});
