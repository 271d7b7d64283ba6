import { afterAll, beforeAll, expect } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { type Console, openConsole, openSender, type Sender } from './support/console.ts';

const { test } = needing('chromium');

let console_: Console;
let shop: Sender;
beforeAll(async () => {
  console_ = await openConsole();
  shop = await openSender(console_);
});
afterAll(async () => {
  await console_?.close();
  cleanUp();
});

const address = (query: string) => `/apps/${shop.application}/Production/flags${query}`;

test('refuses a range whose end is before its start', async () => {
  const { page } = await console_.visit(address('?range=1h'));
  await page.getByRole('button', { name: 'Range: 1 hour' }).click();
  await page.getByText('From … to …').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('From', { exact: true }).fill('2026-02-02T10:00');
  await dialog.getByLabel('To', { exact: true }).fill('2026-02-01T10:00');
  await dialog.getByRole('button', { name: 'Show' }).click();
  await dialog.getByRole('alert').getByText('The start must be before the end').waitFor();
  expect(await dialog.getByText('The range has changed').count()).toBe(0);
  expect(page.url()).toMatch(/\?range=1h$/);
});

test('shows why the server refuses a range, without a retry', async () => {
  await shop.packet({ checkout: { on: [1] } });
  const ancient = '?range=1h&from=1000-01-01T00:00:00Z&to=2026-01-01T00:00:00Z';
  const { page } = await console_.visit(address(ancient));
  await page.getByText('from must not be before 1970-01-01T00:00:00Z').waitFor();
  await page.getByText('Choose another range or another page.').waitFor();
  await page.getByRole('button', { name: 'Back to 1 hour' }).click();
  await page
    .getByRole('button', { name: /^Checks/ })
    .first()
    .waitFor();
});
