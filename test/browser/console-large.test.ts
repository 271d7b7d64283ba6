import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { fillHistory, findNumbers } from '../../bench/report-store.ts';
import { type Credentials, cleanUp, createApplication, startBinary, stop, token } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { axeFaults } from './support/axe.ts';
import { type Console, openConsole } from './support/console.ts';

const { describe, test } = needing('chromium-headless-shell');

const flags = 2000;
const days = 90;
/** Maximum number of rendered rows. It is much smaller than the number of flags. */
const fewRows = 80;

let console: Console;
let application: string;

/** Fills an application's first environment with data for all days. */
async function fill(data: string, credentials: Credentials): Promise<void> {
  const service = await startBinary({ data });
  application = await createApplication(service.http, await token(service.http, credentials), { name: 'Large' });
  await stop(service);
  const { environments, ...numbers } = await findNumbers(data, application);
  const use = { flags, days, hoursADay: 1, minuteHours: 1 };
  await fillHistory(data, [{ ...numbers, ...use, environment: environments[0]! }], Date.now());
}

beforeAll(async () => {
  console = await openConsole(['--max-features', '5000'], fill);
});

afterAll(async () => {
  await console?.close();
  cleanUp();
});

const featuresAddress = (query: string) => `/apps/${application}/Production/flags?${query}`;
const rows = (page: Page) => page.getByRole('grid').locator('[data-index]');
const row = (page: Page, index: number) => page.locator(`[data-index="${index}"]`);
const focused = (page: Page) => page.locator('[role=row]:focus');
const name = (row: Locator) => row.getByRole('rowheader').innerText();
const rowCount = (page: Page) => page.getByRole('grid').getAttribute('aria-rowcount');

/**
 * Waits until the rows and the chart are drawn after the redirects of a sign-in.
 * @returns time since the navigation began, ms
 */
async function drawn(page: Page): Promise<number> {
  await rows(page).first().waitFor();
  await page.locator('.chart canvas').first().waitFor();
  return page.evaluate(() => performance.now());
}

describe('the overview of 2,000 flags', () => {
  async function open(range = '90d'): Promise<Page> {
    const { page } = await console.visit(featuresAddress(`sort=flag&range=${range}`));
    return page;
  }

  test.each(['90d', '7d'])('the overview of 2,000 flags over %s renders only the visible rows', async (range) => {
    const page = await open(range);
    const ms = await drawn(page);
    process.stdout.write(`the overview over ${range} was drawn after ${Math.round(ms)} ms\n`);
    expect(await rowCount(page)).toBe(String(flags + 1));
    expect(await rows(page).count()).toBeLessThan(fewRows);
    expect(await axeFaults(page)).toEqual([]);
  });

  test('the End key and scrolling both reach the last row of 2,000 flags', async () => {
    const page = await open();
    await row(page, 0).focus();
    await page.keyboard.press('End');
    const last = row(page, flags - 1);
    await expect.poll(() => focused(page).getAttribute('aria-rowindex')).toBe(String(flags + 1));
    await expect.poll(() => name(last)).toBe('flag-1999');
    expect(await rows(page).count()).toBeLessThan(fewRows);
    await page.keyboard.press('Home');
    await expect.poll(() => name(focused(page))).toBe('flag-0');
    await last.waitFor({ state: 'detached' });
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await last.waitFor();
    expect(await last.isVisible()).toBe(true);
    expect(await rows(page).count()).toBeLessThan(fewRows);
  });

  test('the search finds the last of 2,000 flags and opens it', async () => {
    const page = await open();
    await row(page, 0).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('flag-1999');
    await expect.poll(() => rowCount(page)).toBe('2');
    await row(page, 0).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(({ searchParams }) => searchParams.get('name') === 'flag-1999');
    await page.getByRole('heading', { level: 1, name: 'flag-1999' }).waitFor();
    await page.locator('.chart canvas').first().waitFor();
    expect(await page.getByRole('table').first().innerText()).toMatch(/\bon\b/);
    expect(await axeFaults(page)).toEqual([]);
  });
});

test('the field for choosing a team lists all 60 teams', async () => {
  const names = Array.from({ length: 60 }, (_, number) => `Many ${number}`);
  for (const name of names) await console.manage('POST', '/api/v2/teams', 201, { name });
  const { page } = await console.visit('/settings/applications');
  await page.getByRole('button', { name: 'Create application' }).click();
  const options = page.getByRole('dialog').getByLabel('Team').locator('option', { hasText: 'Many' });
  await expect.poll(async () => (await options.allTextContents()).sort()).toEqual(names.sort());
});
