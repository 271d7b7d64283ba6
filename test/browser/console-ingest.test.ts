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
  shop = await openSender(console_, 'Shop', { allowedOrigins: ['https://shop.example'] });
  await shop.packet({ checkout: { on: [1] } });
  for (let time = 0; time < 3; time += 1) expect(await send({}, 'https://copy.example')).toBe(403);
  expect(await send({ e: 'Prodction' })).toBe(404);
  expect(await send({ f: { checkout: { on: [2 ** 31] } } })).toBe(202); // Only this count is refused.
  expect(await send({ k: `fm_fe_${'c0ffee'.repeat(6)}` })).toBe(404);
  for (const version of ['1.9', '1.10', '1.10', '1.10'])
    expect(await send({}, 'https://shop.example', `shop-api/${version}`)).toBe(202);
});
afterAll(async () => {
  await console_?.close();
  cleanUp();
});

/** Sends an invalid packet. @returns the status of the response */
async function send(wrong: object, origin = 'https://shop.example', userAgent = `sender of ${origin}`) {
  const packet = { k: shop.key, e: 'Production', f: { checkout: { on: [1] } }, ...wrong };
  const { status } = await fetch(`${console_.origin}/api/frontend/telemetry`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin, 'user-agent': userAgent },
    body: JSON.stringify(packet),
  });
  return status;
}

const ingest = (query = '') => `/apps/${shop.application}/Production/ingest?range=24h${query}`;

test('the ingest page shows the count, the latest example and the remedy for each reason of refusals', async () => {
  const { page } = await console_.visit(ingest());
  const reason = (name: RegExp) => page.getByRole('listitem').filter({ hasText: name });
  const origin = reason(/3 refused/);
  await origin.getByText('https://copy.example', { exact: true }).waitFor();
  await origin.getByText('What to do: Add the origin of your page').waitFor();
  // A packet with a misspelt environment is shown in the environment with the most similar name.
  await reason(/no such environment/)
    .getByText('Prodction')
    .waitFor();
  await page.getByText('Send counts up to 2147483647').first().waitFor();
  await page.getByRole('row', { name: /unknown_key fm_fe_c0ffee… https:\/\/shop.example Production/ }).waitFor();
  expect(await page.getByText(shop.key).count()).toBe(0);
  expect(await axeFaults(page)).toEqual([]);
});

test('the ingest page counts a message that arrives while the page is open', async () => {
  const { page } = await console_.visit(ingest());
  const accepted = page
    .locator('.ingest-sums')
    .getByText(/accepted$/)
    .locator('strong');
  await accepted.waitFor();
  const before = Number(await accepted.textContent());
  await shop.packet({ checkout: { on: [1] } });
  await expect.poll(async () => Number(await accepted.textContent())).toBe(before + 1);
});

test('the server page shows the live state of the server, and the minutes before the page was opened', async () => {
  await shop.packet({ checkout: { on: [1] } });
  const { page } = await console_.visit('/');
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitem', { name: 'Server' }).click();
  const figure = page.locator('.server-figure', { hasText: 'Packets per second' }).locator('dd');
  await expect.poll(async () => Number(await figure.textContent())).toBeGreaterThan(0);
  await page.locator('.server-figure', { hasText: 'Accepts data' }).getByText('Yes').waitFor();
  const chart = page.locator('figure', { hasText: 'Accepted per second' }).first();
  await chart.getByText('Show as table').click();
  const rows = chart.getByRole('row');
  // The packet for this row was sent before the page was opened.
  await expect
    .poll(async () => (await rows.allInnerTexts()).some((row) => /[1-9]/.test(row.split('\t')[1] ?? '')))
    .toBe(true);
  expect(await schemeFaults(page)).toEqual([]);
});

test('a refusal on the ingest page links to the row of its key in the settings', async () => {
  const { page } = await console_.visit(ingest());
  const fact = page.locator('.ingest-example').filter({ hasText: 'https://copy.example' });
  await fact.getByRole('link', { name: 'Frontend' }).click();
  await page.locator('tr[aria-current]', { hasText: /Frontend.*4, last.*origin not allowed/ }).waitFor();
});

test('the address of the ingest page contains the filters, and the CSV file contains the filtered rows', async () => {
  const { page } = await console_.visit(ingest());
  await page.getByLabel('Reason').selectOption('origin_not_allowed');
  const rows = page.getByRole('region', { name: 'Senders' }).getByRole('row');
  await expect.poll(() => rows.count()).toBe(2);
  expect((await rows.first().innerText()).split('\t')).toEqual(['Program', 'Type', 'Refused', 'Reasons', 'Last']);
  expect(new URL(page.url()).searchParams.get('reason')).toBe('origin_not_allowed');
  await page.reload();
  await expect.poll(() => rows.count()).toBe(2);
  const downloading = page.waitForEvent('download');
  await page
    .locator('section', { has: page.getByRole('heading', { name: 'Senders' }) })
    .getByRole('button', { name: 'Export: Senders' })
    .click();
  await page.getByRole('menuitem', { name: 'CSV' }).click();
  const csv = (await readContent(await downloading)).toString().replace('\ufeff', '');
  const [head, row, ...more] = csv.split('\r\n');
  expect(head).toBe('Sender,Type,Environment,Outcome,Reason,Count,Last');
  expect(row).toMatch(/^sender of https:\/\/copy.example,Packets,Production,refused,origin_not_allowed,3,2/);
  expect(more).toEqual(['']);
  await page.getByLabel('Sender', { exact: true }).fill('no such sender');
  await page.getByText('No sender matches the filters.').waitFor();
});

test('the ingest page splits the messages of a program by version, with the share of each version', async () => {
  const { page } = await console_.visit(ingest());
  await page
    .getByRole('row', { name: /^shop-api/ })
    .getByRole('button', { name: '2 versions' })
    .click();
  await page.waitForURL(/program=shop-api/);
  expect(await page.getByLabel('Split by').inputValue()).toBe('shop-api');
  const rows = page.getByRole('region', { name: 'Shares of the versions of shop-api' }).locator('tbody tr');
  await expect
    .poll(async () => (await rows.allInnerTexts()).map((row) => row.split('\t').slice(0, 4)))
    .toEqual([
      ['1.10', '3', '75%', '0 (0%)'],
      ['1.9', '1', '25%', '0 (0%)'],
    ]);
  const chart = page.locator('figure', { hasText: 'Messages of shop-api by version' });
  expect(await chart.locator('.chart-legend li').allInnerTexts()).toEqual([
    '1.9',
    '1.10',
    expect.stringMatching('so far'),
  ]);
  expect(await schemeFaults(page)).toEqual([]);
  await page.getByLabel('Split by').selectOption('Outcome');
  await page.getByRole('application', { name: /^Accepted and refused/ }).waitFor();
  expect(page.url()).not.toContain('program=');
});

test('the ingest page fits a phone and passes axe-core in light and dark mode', async () => {
  const { page } = await console_.visit(ingest(), phone);
  await page.getByText('Problems and remedies').waitFor();
  expect(await readWidth(page)).toBe(phone.viewport.width);
  expect(await schemeFaults(page)).toEqual([]);
});
