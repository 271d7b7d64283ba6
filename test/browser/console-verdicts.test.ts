import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Overview } from '../../src/contract/shapes/overview.ts';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { schemeFaults } from './support/axe.ts';
import { type Console, openConsole, openSender, type Sender, withColumns } from './support/console.ts';

const { describe, test } = needing('chromium-headless-shell');

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
const token = `default:production.${'f'.repeat(56)}`;

let console: Console;
let shop: Sender;
let billing: Sender;

/** Fills in a used flag, a flag last reported 40 days ago, a flag that was only declared, and a misspelt flag. */
async function fillShop(): Promise<void> {
  shop = await openSender(console, 'Shop');
  for (const name of ['checkout', 'old-banner', 'next-year'])
    await console.manage('POST', `/api/v2/applications/${shop.application}/features`, 201, { name });
  await shop.report(daysAgo(40), { 'old-banner': { on: [10], off: [5] } });
  const used = { on: [60, 30, 20], off: [40, 10] };
  for (const ago of [20, 0]) await shop.report(daysAgo(ago), { checkout: used, chekcout: { on: [3], off: [1] } });
}

/** Fills in an application whose only sender is an SDK of Unleash. */
async function fillBilling(): Promise<void> {
  billing = await openSender(console, 'Billing');
  const adopted = { token, type: 'Backend', environment: 'Production' };
  await console.manage('POST', `/api/v2/applications/${billing.application}/keys/adopt`, 201, adopted);
  const start = new Date(Date.now() - 60_000);
  const stop = new Date();
  const toggles = { invoices: { yes: 3, no: 1, variants: {} } };
  const response = await fetch(`${console.origin}/api/client/metrics`, {
    method: 'POST',
    headers: { authorization: token, 'content-type': 'application/json' },
    body: JSON.stringify({ appName: 'billing', instanceId: 'billing-1', bucket: { start, stop, toggles } }),
  });
  expect(response.status).toBe(202);
}

beforeAll(async () => {
  console = await openConsole();
  await Promise.all([fillShop(), fillBilling()]);
});

afterAll(async () => {
  await console?.close();
  cleanUp();
});

const featuresAddress = ({ application }: Sender, query = '') => `/apps/${application}/Production/flags${query}`;
const featureAddress = ({ application }: Sender, name: string) => `/apps/${application}/Production/flag?name=${name}`;
const grid = (page: Page) => page.getByRole('grid');
const findRow = (page: Page, name: string) =>
  grid(page)
    .locator('[data-index]')
    .filter({ has: page.getByRole('rowheader', { name, exact: true }) });
const names = (page: Page) => grid(page).getByRole('rowheader').allInnerTexts();
/** Saves screenshots in both colour schemes, if the environment variable SCREENSHOTS names a folder. */
async function keep(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS'];
  if (folder === undefined) return;
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: `${folder}/${name}-${colorScheme}.png`, fullPage: true });
  }
}

describe('the verdict', () => {
  test('the table of flags shows verdicts and filters by verdict, and agrees with the page of a flag', async () => {
    const { page } = await console.visit(featuresAddress(shop));
    await findRow(page, 'old-banner').getByText('keep: silence proves nothing').waitFor();
    const misspelt = findRow(page, 'chekcout').getByText('fix: unknown flag – did you mean checkout?');
    expect(await misspelt.getAttribute('title')).toMatch(/might be misspelt/);
    expect(await misspelt.getAttribute('class')).toContain('overview-kind-undeclared');
    expect(await findRow(page, 'next-year').getByText('keep: new').count()).toBe(1);
    await page.getByLabel('State').selectOption({ label: 'keep: silence proves nothing (1)' });
    await expect.poll(() => names(page)).toEqual(['old-banner']);
    expect(page.url()).toContain('state=cannot_tell');
    await page.getByRole('link', { name: 'old-banner' }).first().click();
    await page.getByRole('heading', { name: 'Keep: silence proves nothing' }).waitFor();
    await page
      .getByText(/still names it in Production, at earlier times: a clock might be wrong\./)
      .first()
      .waitFor();
    expect(await page.locator('.flag-verdict .primary').count()).toBe(0);
  });

  test('the page of an undeclared flag warns about the flag, and links to the similar declared flag', async () => {
    const { page } = await console.visit(featureAddress(shop, 'chekcout'));
    await page.locator('.flag-verdict.panel-warn').waitFor();
    await page.locator('.flag-verdict .primary').getByText('Declare flag').waitFor();
    await page.getByText('and might be misspelt').waitFor();
    expect(await page.getByRole('link', { name: 'checkout', exact: true }).count()).toBe(1);
    expect(await page.getByText('The flag is not declared.').count()).toBe(1);
  });
});

describe('a source that reports checks only', () => {
  test('the API names a source that reports only checks, and this source changes no verdict', async () => {
    const below = `/api/v2/applications/${billing.application}`;
    const overview = (await console.manage('GET', `${below}/overview?environment=Production`, 200)) as Overview;
    expect(overview).toMatchObject({
      checksOnly: ['Unleash'],
      features: [{ feature: 'invoices', checks: 4, used: 0, verdict: 'new', checksOnly: ['Unleash'] }],
    });
    const verdict = await console.manage('GET', `${below}/features/invoices/verdict`, 200);
    expect(verdict).toMatchObject({
      kind: 'new',
      checksOnly: ['Unleash'],
      reasons: [
        { code: 'new' },
        { code: 'checks_only', text: 'Unleash does not report used or viewed.', names: ['Unleash'] },
        { code: 'undeclared' },
      ],
    });
    const other = await console.manage(
      'GET',
      `/api/v2/applications/${shop.application}/overview?environment=Production`,
      200,
    );
    expect(other).toMatchObject({ checksOnly: [] });
  });

  test('the console names a source that reports only checks, instead of showing counts of 0', async () => {
    const { page } = await console.visit(featuresAddress(billing));
    const tiles = page.getByRole('group', { name: 'What the chart shows' });
    const used = tiles.getByRole('button', { name: /^Used/ });
    await used.getByText('Unleash does not report used or viewed.').waitFor();
    await withColumns(page, ['Used', 'Viewed'], () =>
      expect.poll(() => findRow(page, 'invoices').getByText('not reported').count()).toBe(2),
    );
    await page.goto(console.origin + featureAddress(billing, 'invoices'));
    const funnel = page.getByRole('table', { name: 'From checks to uses and views, by variant' });
    await expect.poll(() => funnel.getByText('not reported').count()).toBe(4);
    await page.locator('.flag-reasons').getByText('Unleash does not report used or viewed.').waitFor();
    await page.getByRole('tab', { name: 'Experiment' }).click();
    await page
      .getByRole('region', { name: 'Experiment' })
      .getByText('Unleash does not report used or viewed.')
      .waitFor();
  });
});

test('the verdicts in the console pass axe-core in light and dark mode', async () => {
  const { page } = await console.visit(featuresAddress(shop));
  await findRow(page, 'old-banner').waitFor();
  await keep(page, 'verdicts');
  expect(await schemeFaults(page)).toEqual([]);
  for (const [sender, name] of [
    [shop, 'old-banner'],
    [shop, 'chekcout'],
    [billing, 'invoices'],
  ] as const) {
    await page.goto(console.origin + featureAddress(sender, name));
    await page.locator('.flag-reasons li').first().waitFor();
    await keep(page, `verdict-${name}`);
    if (name === 'invoices') expect(await schemeFaults(page)).toEqual([]);
  }
  await page.goto(console.origin + featuresAddress(billing));
  await findRow(page, 'invoices').waitFor();
  await keep(page, 'checks-only');
});
