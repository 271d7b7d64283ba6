import { afterAll, beforeAll, expect } from 'vitest';
import type { Home } from '../../src/contract/shapes/home.ts';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { axeFaults, schemeFaults } from './support/axe.ts';
import { phone } from './support/chromium.ts';
import { type Console, openConsole, openSender } from './support/console.ts';

const { describe, test } = needing('chromium-headless-shell');

let console: Console;
let shop: string;
let blog: string;
let mailHealth: string;

beforeAll(async () => {
  console = await openConsole();
  const sender = await openSender(console, 'Shop');
  shop = sender.application;
  await sender.packet({ checkout: { on: [2], off: [1] }, 'new-search': { on: [1], off: [1] } });
  blog = (await openSender(console, 'Blog')).application;
  const path = `/api/v2/applications/${shop}/keys`;
  const made = (await console.manage('POST', path, 201, { type: 'Backend', name: 'Billing' })) as { key: string };
  expect(await send(made.key, 'Production', 'https://shop.example')).toBe(404);
  const mail = await openSender(console, 'Mail');
  await mail.packet({ welcome: { on: [1] } });
  expect(await send(mail.key, 'production', 'https://mail.example')).toBe(404);
  mailHealth = `/api/v2/applications/${mail.application}/health`;
  const rollout = [{ at: new Date(Date.now() + 86_400_000).toISOString(), split: { on: 1, off: 1 } }];
  const features = `/api/v2/applications/${blog}/features`;
  await console.manage('POST', features, 201, { name: 'comments' });
  await console.manage('PATCH', `${features}/comments`, 200, { rollout });
});

/** Sends a packet from a page. @returns the status of the response */
async function send(key: string, environment: string, origin: string): Promise<number> {
  const response = await fetch(`${console.origin}/api/frontend/telemetry`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin, 'user-agent': 'Mozilla/5.0 Firefox/144.0' },
    body: JSON.stringify({ k: key, e: environment, f: { checkout: { on: [1] } } }),
  });
  return response.status;
}

afterAll(async () => {
  await console?.close();
  cleanUp();
});

const searchField = { name: /^Search flags, pages/ } as const;

describe('the home page', () => {
  test('the home page lists findings and applications, and draws a trend line only if messages are unusual', async () => {
    const refused = { kind: 'senders_refused' };
    await expect.poll(() => console.manage('GET', mailHealth, 200)).toMatchObject({ items: [refused] });
    const { page, complaints } = await console.visit('/');
    const findings = page.getByRole('region', { name: 'What needs attention' }).getByRole('listitem');
    await findings.filter({ hasText: /No data received yet\s*Blog · Production.*Set up/ }).waitFor();
    expect(await findings.first().innerText()).toMatch(
      /urgent\s+Key Billing was sent by a browser once\s+Shop · Owner: .* · since .*\s+Replace key/,
    );
    expect(await page.getByRole('row', { name: /^Blog/ }).innerText()).toMatch(/set up/);
    const row = page.getByRole('row', { name: /^Shop/ });
    expect(await row.getByRole('link', { name: 'Production' }).getAttribute('href')).toBe(
      `/apps/${shop}/Production/flags`,
    );
    expect(await row.innerText()).toMatch(/urgent/);
    expect(await page.getByRole('row', { name: /^Mail/ }).locator('.spark').count()).toBe(1);
    expect(await page.locator('.spark').count()).toBe(1);
    const planned = page.getByRole('region', { name: 'Coming up' }).getByRole('listitem');
    expect(await planned.allInnerTexts()).toEqual([
      expect.stringMatching(/^.*\d{4}.*: Rollout of comments moves to on 50%, off 50% Blog$/),
    ]);
    expect(await planned.getByRole('link').getAttribute('href')).toBe(
      `/apps/${blog}/Production/flag?name=comments&tab=traffic`,
    );
    expect(await schemeFaults(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('the home page shows skeleton rows during the check of applications, and results of experiments', async () => {
    const { page } = await console.visit('/');
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const verdict = 'Better by 4.0 points with on (3.1 to 4.9), 28 days; guardrail viewed unclear: do not ship yet';
    await page.route('**/api/v2/home', async (route) => {
      await released;
      const home = (await console.manage('GET', '/api/v2/home', 200)) as Home;
      const sentence = `Experiment One page has finished: ${verdict}`;
      const result = { kind: 'experiment_done', conclusion: { outcome: 'better', decision: 'wait' }, sentence };
      await route.fulfill({ json: { ...home, complete: false, items: [{ ...home.items[0], ...result }] } });
    });
    await page.reload();
    await page.locator('.home .skeleton-row').first().waitFor();
    expect(await page.getByText('No issues').count()).toBe(0);
    release();
    const attention = page.getByRole('region', { name: 'What needs attention' });
    await attention.getByText('Checking applications …').waitFor({ state: 'attached' });
    await attention.locator('.skeleton-row').first().waitFor();
    expect(await attention.getByRole('listitem').innerText()).toMatch(
      /better: do not ship yet\s+Experiment .*One page.* has finished: Better by .* do not ship yet/,
    );
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.reload();
    await attention.getByText('Key Billing was sent').waitFor();
    expect(await page.locator('.skeleton').count()).toBe(0);
  });

  test('a finding on the home page links to the leaked key', async () => {
    const { page } = await console.visit('/');
    await page.getByRole('link', { name: 'Replace key' }).click();
    await page.waitForURL(/\/settings\/application\?app=.*key=key_/);
    await page.getByRole('row', { name: /Billing/ }).waitFor();
  });

  test('the home page fits the screen of a phone', async () => {
    const { page } = await console.visit('/', phone);
    await page.getByRole('link', { name: 'Replace key' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await axeFaults(page)).toEqual([]);
    const table = page.getByRole('region', { name: 'Applications' });
    expect(await table.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
  });
});

test('flags that need attention come first, and an environment without data is not shown as healthy', async () => {
  const { page } = await console.visit(`/apps/${shop}/Production/flags?range=30d`);
  const line = page.getByRole('region', { name: 'What needs attention' });
  await line.getByText('1 urgent:').waitFor();
  expect(await line.getByRole('link', { name: 'key leaked' }).getAttribute('href')).toContain(`app=${shop}&key=`);
  await page.goto(`${console.origin}/apps/${blog}/Production/flags`);
  await page.getByRole('link', { name: 'set up', exact: true }).waitFor();
  expect(await page.locator('.health-ok').count()).toBe(0);
});

describe('the search', () => {
  test('Ctrl+K opens the search, which leads to a flag of another application', async () => {
    const { page, complaints } = await console.visit(`/apps/${blog}/Production/connect`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', searchField).fill('new sea');
    const option = page.getByRole('option', { name: /new-search/ });
    await option.waitFor();
    await expect.poll(() => page.locator('[role=option][aria-selected=true]').innerText()).toMatch(/new-search/);
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/apps/${shop}/Production/flag?name=new-search`);
    // When the search is opened again, the page chosen last comes first.
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', searchField).waitFor();
    expect(await page.getByRole('option').first().innerText()).toMatch(/new-search/);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  });

  test('the search finds keys, settings, docs and actions by keyboard, and announces the number of results', async () => {
    const { page } = await console.visit(`/apps/${shop}/Production/flags`);
    await page.getByRole('button', { name: /^Search/ }).click();
    const field = page.getByRole('combobox', searchField);
    await field.fill('billing');
    await page.getByRole('option', { name: /Billing.*Key/ }).waitFor();
    expect(await page.getByRole('dialog').getByRole('status').innerText()).toMatch(/^\d+ results?$/);
    await field.fill('webhooks');
    await page.getByRole('option', { name: /Docs$/ }).first().waitFor();
    await page.getByRole('option', { name: /^Team/ }).waitFor();
    for (const name of ['Experiments', 'Clean-up', 'Activity', 'Audit log']) {
      await field.fill(name);
      await page.getByRole('option', { name: new RegExp(`^${name}.*Page$`) }).waitFor();
    }
    await field.fill('webhoks');
    await page.getByRole('option', { name: /Webhooks.*Did you mean$/ }).waitFor();
    await page.getByText('No match for “webhoks”. Did you mean Webhooks?').waitFor();
    await field.fill('theme dark');
    await page.getByRole('option', { name: /Theme: dark/ }).waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
  });

  test('the search finds a person, whose identity is neither in the address nor in the history', async () => {
    const { page } = await console.visit(`/apps/${shop}/Production/flags`);
    await page.getByRole('button', { name: /^Search/ }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', searchField).fill('ada@example.com');
    await page.getByRole('option', { name: /Look up person/ }).click();
    await page.getByText('No records of').waitFor();
    expect(page.url()).not.toContain('ada');
    expect(await page.evaluate('JSON.stringify({ ...localStorage })')).not.toContain('ada');
  });
});
