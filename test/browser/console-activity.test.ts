import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { axeFaults } from './support/axe.ts';
import { phone, readContent } from './support/chromium.ts';
import { type Console, openConsole, openSender, type Sender } from './support/console.ts';
import { readWidth } from './support/looks.ts';

const { test } = needing('chromium-headless-shell');

const minuteMs = 60_000;

let console_: Console;
let shop: Sender;
beforeAll(async () => {
  console_ = await openConsole();
  shop = await openSender(console_);
  const counts = Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`flag-${at}`, { on: [1] }]));
  await shop.report(new Date(), { ...counts, checkout: { on: [20], off: [10] } });
  const path = `/api/v2/applications/${shop.application}/features/checkout`;
  const at = (minutes: number) => new Date(Date.now() - minutes * minuteMs).toISOString();
  await console_.manage('POST', path.replace('/checkout', ''), 201, { name: 'checkout' });
  await console_.manage('PATCH', path, 200, { permanent: true });
  await console_.manage('POST', `${path}/notes`, 201, { text: 'Half of the users', at: at(9 * 60) });
  await console_.manage('POST', `${path}/notes`, 201, { text: 'All users', at: at(3 * 60) });
});
afterAll(async () => {
  await console_?.close();
  cleanUp();
});

const pageAddress = (page: string, query = 'range=24h') => `/apps/${shop.application}/Production/${page}?${query}`;

test('the activity page lists changes by day with links, folds many changes of one kind, and has filters', async () => {
  const { page } = await console_.visit(pageAddress('activity'));
  await page.getByRole('link', { name: 'checkout' }).first().waitFor();
  await page.getByText('Changed: keep for ever no → yes').waitFor();
  await page.getByText('First seen: 7 flags').click();
  await page.getByRole('link', { name: 'flag-5' }).waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await page.getByLabel('Search').fill('half');
  await page.getByText('Half of the users').waitFor();
  await page.getByText('First seen: 7 flags').waitFor({ state: 'detached' });
  expect(page.url()).toContain('search=half');
  await page.getByLabel('Search').fill('');
  await page.getByLabel('What').selectOption('changes');
  await page.getByText('Application Shop created').waitFor();
  await page.getByText('flag-5').waitFor({ state: 'detached' });
  await page.getByLabel('What').selectOption('metric_changed');
  await page.getByText('No change in this range matches').waitFor();
});

test('the open activity page shows a change as soon as it is made, on a phone and in dark mode too', async () => {
  const { page, tab } = await console_.visit(pageAddress('activity', 'range=1h'), { colorScheme: 'dark' });
  await page.getByText('Changed: keep for ever no → yes').waitFor();
  const path = `/api/v2/applications/${shop.application}/features`;
  await console_.manage('POST', path, 201, { name: 'just-now' });
  const other = await tab(pageAddress('activity', 'range=24h&what=note'));
  await other.getByText('All users').waitFor();
  const lines = await saved(other);
  expect(lines).toHaveLength(3);
  expect(lines[1]).toContain(',note,,checkout,,All users,');
  await page.setViewportSize(phone.viewport);
  await page.getByRole('link', { name: 'just-now' }).waitFor();
  expect(await readWidth(page)).toBe(phone.viewport.width);
  expect(await axeFaults(page)).toEqual([]);
});

test('charts mark events of a flag and of all flags, and keyboards and screen readers can reach the markers', async () => {
  const { page } = await console_.visit(pageAddress('flag', 'name=checkout&range=24h'));
  const chart = page.getByRole('application', { name: 'Checks by variant' });
  await page.getByText(/^\d events$/).click();
  await page.getByRole('link', { name: 'Half of the users' }).waitFor();
  const described = page.locator(`[id="${await chart.getAttribute('aria-describedby')}"]`);
  expect(await described.textContent()).toMatch(/M moves to the next event\. \d events: .*Half of the users/);
  await chart.focus();
  await page.keyboard.press('m');
  await page.locator('.chart-tooltip').getByText('▾ Half of the users').waitFor();
  await page.keyboard.press('m');
  await page.locator('.chart-tooltip').getByText('▾ All users').waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await page.goto(console_.origin + pageAddress('flags'));
  await page.getByText(/^\d events$/).click();
  await page.getByRole('link', { name: 'checkout: All users' }).click();
  await page.getByRole('heading', { name: 'checkout', level: 1 }).waitFor();
});

test('the audit log is filtered by application and object, shows old and new values, and is saved as CSV', async () => {
  const { page } = await console_.visit('/audit');
  await page.getByLabel('Application', { exact: true }).selectOption({ label: 'Shop' });
  await page.getByLabel('What').selectOption('feature');
  await page.getByText('permanent: no → yes').waitFor();
  await page.getByRole('cell', { name: 'application created' }).waitFor({ state: 'detached' });
  expect(await axeFaults(page)).toEqual([]);
  const csv = (await saved(page)).join('\n');
  expect(csv).toContain('permanent: no → yes');
  expect(csv).not.toContain('sign-in');
});

/** Returns the lines of the file that a button saves. */
async function saved(page: Page): Promise<readonly string[]> {
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: /^Export/ }).click();
  await page.getByRole('menuitem', { name: 'CSV' }).click();
  return (await readContent(await downloading)).toString().trim().split('\r\n');
}
