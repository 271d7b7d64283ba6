import { afterAll, beforeAll, expect } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { axeFaults } from './support/axe.ts';
import { phone } from './support/chromium.ts';
import { type Console, openConsole, openSender, type Sender } from './support/console.ts';
import { readWidth } from './support/looks.ts';

const { test } = needing('chromium-headless-shell');

let console_: Console;
let shop: Sender;
beforeAll(async () => {
  console_ = await openConsole();
  shop = await openSender(console_);
  const variants = { off: [100, 20], on: [100, 30] };
  const counts = { checkout: variants, search: variants };
  for (let day = 0; day < 9; day += 1) await shop.report(new Date(Date.now() - day * 86_400_000), counts);
  const path = `/api/v2/applications/${shop.application}/features/checkout`;
  await console_.manage('PATCH', path, 200, { owners: [{ type: 'text', name: 'Team Basket' }] });
});
afterAll(async () => {
  await console_?.close();
  cleanUp();
});

const featureAddress = (name = 'checkout') => `/apps/${shop.application}/Production/flag?name=${name}`;

test('the page of a flag plans an experiment, and does not name a winner while the experiment runs', async () => {
  const { page } = await console_.visit(`${featureAddress()}&tab=experiment`);
  await page.getByRole('button', { name: 'Plan experiment' }).click();
  const dialog = page.getByRole('dialog', { name: 'Plan experiment on checkout' });
  await dialog.getByText(/^Power: /).waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await dialog.getByLabel('Name').fill('Soon');
  await dialog.getByRole('button', { name: 'Plan' }).click();
  await page.getByText(/planned starts on /).waitFor();
  await page.getByRole('table', { name: /^Rates by variant/ }).waitFor();
  const startAt = new Date(Date.now() - 8 * 86_400_000).toISOString();
  const endAt = new Date(Date.now() + 8 * 86_400_000).toISOString();
  const list = `/api/v2/applications/${shop.application}/experiments`;
  const { id } = (await console_.manage('POST', list, 201, {
    feature: 'checkout',
    name: 'Running',
    environment: 'Production',
    base: 'off',
    metric: 'used',
    startAt,
    endAt,
    guardrails: [{ metric: 'viewed', direction: 'up', tolerated: 0.01 }],
  })) as { id: string };
  await page.goto(`${console_.origin}/apps/${shop.application}/Production/experiments`);
  await page.getByRole('heading', { name: 'Running' }).waitFor();
  await page.getByRole('cell', { name: 'Team Basket' }).first().waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await page.getByRole('link', { name: 'Running' }).click();
  await page.getByText(/^Running: day \d of \d+\./).waitFor();
  await page.getByText(/^The flag had no users in the last 28 days/).waitFor();
  await page.getByRole('heading', { name: 'Guardrails' }).waitFor();
  expect(await page.getByText(/better with|winner/i).count()).toBe(0);
  expect(await axeFaults(page)).toEqual([]);
  await page.getByLabel('Reason to stop').fill('Too many errors');
  await page.getByRole('button', { name: 'Stop experiment' }).click();
  await page.getByText('Stopped early, not as planned: Too many errors').waitFor();
  const label = (await page.locator('.pill').first().textContent())!;
  for (const path of [`/apps/${shop.application}/Production/experiments`, `${featureAddress()}&tab=experiment`]) {
    await page.goto(`${console_.origin}${path}`);
    await page.locator('.pill', { hasText: label }).waitFor();
  }
  expect(await page.getByRole('table', { name: /^Rates by variant/ }).count()).toBe(0);
  const narrow = await console_.visit(`/apps/${shop.application}/Production/experiment?id=${id}`, phone);
  await narrow.page.getByRole('heading', { name: 'Plan', exact: true }).waitFor();
  expect(await readWidth(narrow.page)).toBeLessThanOrEqual(phone.viewport.width);
});

test('the chart shows a rollout plan above the actual share, and the page says that the rollout is behind', async () => {
  const { page } = await console_.visit(`${featureAddress()}&tab=settings`);
  await page.getByRole('button', { name: 'Edit rollout plan' }).click();
  const section = page.getByRole('region', { name: /Rollout plan/ });
  await section.getByLabel('Variant').selectOption('on');
  await section.getByLabel('The rest gets').selectOption('off');
  const before = new Date(Date.now() - 5 * 86_400_000).toISOString().slice(0, 16);
  await section.getByLabel('Step 1: from (UTC)').fill(before);
  await section.getByLabel('Step 1: percent').fill('90');
  expect(await axeFaults(page)).toEqual([]);
  await section.getByRole('button', { name: /^Save rollout plan/ }).click();
  await page.getByText(/^Owner: .* Plan: rollout of on to 90%, the last step/).waitFor();
  await page.getByRole('tab', { name: 'Traffic' }).click();
  await section.getByText('planned').first().waitFor();
  await page
    .getByText(/^behind plan: on had 50% of the checks on average since .*, instead of 90%/)
    .first()
    .waitFor();
  await page.getByText('behind plan', { exact: true }).waitFor();
});

test('the address of a comparison contains the variant that the other variants are compared with', async () => {
  const { page } = await console_.visit(`${featureAddress('search')}&range=30d&tab=experiment`);
  const base = page.getByRole('combobox', { name: /^Base/ });
  expect(await base.inputValue()).toBe('off');
  await base.selectOption('on');
  await page.waitForURL(/base=on/);
});
