import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { axeFaults, schemeFaults } from './support/axe.ts';
import { phone } from './support/chromium.ts';
import { type Console, openConsole, openSender, type Sender } from './support/console.ts';
import { readWidth } from './support/looks.ts';

const { test } = needing('chromium-headless-shell');

let console_: Console;
let shop: Sender;
beforeAll(async () => {
  console_ = await openConsole();
  shop = await openSender(console_, 'Shop', { acceptClientIdentities: true });
});
afterAll(async () => {
  await console_?.close();
  cleanUp();
});

async function show(page: Page, identity: string): Promise<void> {
  await page.getByLabel('Identity').fill(identity);
  await page.getByRole('button', { name: 'Show' }).click();
}

const people = () => `/apps/${shop.application}/Production/people`;

test('the people page shows a person in all environments, and removes the records after a confirmation', async () => {
  const jane = 'jane+1@shop.example/ü';
  await shop.packet({ checkout: { on: [3, 2, 1] } }, 'Production', jane);
  await shop.packet({ search: { fast: [1] } }, 'Staging', jane);
  const { page } = await console_.visit(people());
  await show(page, jane);
  await page.getByRole('row', { name: /checkout on 3 2 1/ }).waitFor();
  await page.getByRole('row', { name: /search fast 1 0 0/ }).waitFor();
  expect(await axeFaults(page)).toEqual([]);
  // An identity is personal data, so it must not be in the address or in the history.
  expect(decodeURIComponent(page.url())).not.toContain('jane');

  await page.getByRole('button', { name: 'Forget person' }).click();
  const dialog = page.getByRole('dialog', { name: 'Forget person' });
  await dialog.getByText('become invalid immediately').waitFor();
  await dialog.getByText('Totals and counts of unique users stay').waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('row', { name: /checkout/ }).waitFor();

  await page.getByRole('button', { name: 'Forget person' }).click();
  await dialog.getByRole('button', { name: 'Forget person' }).click();
  await page.getByText('No records of').waitFor();
  const path = `/api/v2/applications/${shop.application}/identities/${encodeURIComponent(jane)}/exposures`;
  for (const environment of ['Production', 'Staging'])
    expect(await console_.manage('GET', `${path}?environment=${environment}`, 200)).toMatchObject({ exposures: [] });
});

test('the people page shows the reason of a failure, and keeps the input', async () => {
  await shop.packet({ checkout: { on: [1] } }, 'Production', 'tom');
  const { page } = await console_.visit(people(), { expected: /net::ERR_FAILED/ });
  await page.route('**/identities/**', (route) => route.abort());
  await show(page, 'tom');
  await page.getByRole('alert').getByText('cannot be reached').waitFor();
  expect(await page.getByLabel('Identity').inputValue()).toBe('tom');
  await page.unroute('**/identities/**');
  await page.getByRole('button', { name: 'Show' }).click();
  await page.getByRole('row', { name: /checkout/ }).waitFor();

  await page.route('**/identities?**', (route) => route.abort());
  await page.getByRole('button', { name: 'Forget person' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Forget person' }).click();
  await dialog.getByRole('alert').waitFor();
  await page.unroute('**/identities?**');
  await dialog.getByRole('button', { name: 'Forget person' }).click();
  await page.getByText('No records of').waitFor();
});

test.each(['ann', '..', '<b>bold</b>'])('the people page reports that no records exist for %j', async (identity) => {
  const { page } = await console_.visit(people());
  await show(page, identity);
  await page.getByText(identity === '..' ? 'They can be removed' : 'No records of').waitFor();
  await page.getByRole('button', { name: 'Forget person' }).waitFor();
});

test('the people page fits a phone and passes axe-core in light and dark mode', async () => {
  await shop.packet({ checkout: { on: [1] } }, 'Production', 'eve');
  const { page } = await console_.visit(people(), phone);
  await show(page, 'eve');
  await page.getByRole('row', { name: /checkout/ }).waitFor();
  expect(await readWidth(page)).toBe(phone.viewport.width);
  expect(await schemeFaults(page)).toEqual([]);
});

test('the people page wraps a long identity on a phone', async () => {
  const { page } = await console_.visit(people(), phone);
  await show(page, 'x'.repeat(250));
  await page.getByText('No records of').waitFor();
  expect(await readWidth(page)).toBe(phone.viewport.width);
});
