import { afterAll, beforeAll, expect } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { axeFaults, schemeFaults } from './support/axe.ts';
import { phone, readContent } from './support/chromium.ts';
import { type Console, openConsole, openSender, type Sender } from './support/console.ts';
import { readWidth } from './support/looks.ts';

const { test } = needing('chromium-headless-shell');

let console_: Console;
let shop: Sender;
beforeAll(async () => {
  console_ = await openConsole();
  shop = await openSender(console_);
  for (const value of [10, 30, 20]) await measure({ counters: [{ metric: 'basket', value }] });
  const variantValues = { on: 12.5, off: 3 };
  await measure({ counters: [{ metric: 'revenue', feature: 'checkout', variantValues }] });
});
afterAll(async () => {
  await console_?.close();
  cleanUp();
});

async function measure(report: object): Promise<void> {
  const time = new Date().toISOString();
  const response = await fetch(`${console_.origin}/api/metrics`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ appKey: shop.key, environment: 'Production', time, ...report }),
  });
  expect(response.status).toBe(200);
}

const metrics = (query = '') => `/apps/${shop.application}/Production/metrics?range=24h${query}`;

test('the declaration of a metric applies to its earlier values, and can be removed', async () => {
  const { page } = await console_.visit(metrics());
  await page.getByRole('row', { name: /basket counter, not declared 60/ }).waitFor();
  await page.getByRole('button', { name: 'Change basket' }).click();
  await page.getByRole('menuitem', { name: 'Declare' }).click();
  const dialog = page.getByRole('dialog', { name: 'Declare basket' });
  await dialog.getByLabel('Kind').selectOption('gauge');
  await dialog.getByLabel('Unit').fill('EUR');
  expect(await axeFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Declare' }).click();
  await page.getByRole('row', { name: /basket gauge 20 last value, (now|\d+ .* ago) EUR/ }).waitFor();
  await page.getByRole('button', { name: 'basket', exact: true }).click();
  const detail = page.getByRole('region', { name: 'basket', exact: true });
  for (const fact of ['20 EUR', '10 EUR', '30 EUR']) await detail.getByText(fact, { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Change basket' }).click();
  await page.getByRole('menuitem', { name: 'Kind and unit' }).click();
  expect(await dialog.getByLabel('Kind').inputValue()).toBe('gauge');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Change basket' }).click();
  await page.getByRole('menuitem', { name: 'Undeclare' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Undeclare' }).click();
  await page.getByRole('row', { name: /basket counter, not declared 60/ }).waitFor();
});

test('the metrics page declares a metric before its first value, and keeps the input after a refusal', async () => {
  const { page } = await console_.visit(metrics());
  await page.getByRole('button', { name: 'Declare metric' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('__other__');
  await dialog.getByLabel('Unit').fill('ms');
  await dialog.getByRole('button', { name: 'Declare' }).click();
  await dialog.getByRole('alert').waitFor();
  expect(await dialog.getByLabel('Unit').inputValue()).toBe('ms');
  await dialog.getByLabel('Name').fill('load-time');
  await dialog.getByRole('button', { name: 'Declare' }).click();
  await page.getByRole('row', { name: /load-time counter/ }).waitFor();
});

test('the metrics page draws a metric of a flag by variant, and the metric has its own address and CSV file', async () => {
  const { page } = await console_.visit(metrics('&metric=revenue&feature=checkout'));
  const detail = page.getByRole('region', { name: 'revenue of checkout, by variant' });
  await detail.getByText('15.5').first().waitFor();
  await detail.getByText('Show as table').click();
  await detail.getByRole('columnheader', { name: 'off' }).waitFor();
  await detail.getByRole('button', { name: /^Export/ }).click();
  const downloading = page.waitForEvent('download');
  await detail.getByRole('menuitem', { name: 'CSV' }).click();
  const csv = (await readContent(await downloading)).toString().replace('\ufeff', '');
  const lines = csv.trim().split('\r\n');
  expect(lines).toHaveLength(25);
  expect(lines[0]).toMatch(/^Time,(on,off|off,on)(,What happened)?$/);
  expect(lines.filter((line) => /,(12.5,3|3,12.5)(,|$)/.test(line))).toHaveLength(1);
  expect(await axeFaults(page)).toEqual([]);
});

test('the metrics page fits a phone and passes axe-core in light and dark mode', async () => {
  const { page } = await console_.visit(metrics('&metric=basket'), phone);
  await page.getByRole('region', { name: 'basket', exact: true }).waitFor();
  expect(await readWidth(page)).toBe(phone.viewport.width);
  expect(await schemeFaults(page)).toEqual([]);
});

test('the metrics page reads the metrics when the API becomes reachable again', async () => {
  const { page } = await console_.visit(`/apps/${shop.application}/Production/flags`, {
    expected: /ERR_INTERNET_DISCONNECTED/,
  });
  await page.getByRole('heading', { name: 'Flags', level: 1 }).waitFor();
  await page.route('**/measurements?*', (route) => route.abort('internetdisconnected'));
  await page.getByRole('link', { name: 'Metrics', exact: true }).click();
  await page.getByText('Retrying …').waitFor();
  await page.unroute('**/measurements?*');
  await page.getByRole('row', { name: /basket/ }).waitFor();
  await page.getByRole('heading', { name: 'This page cannot be shown' }).waitFor({ state: 'hidden' });
});
