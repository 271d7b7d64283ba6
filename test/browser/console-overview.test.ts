import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { schemeFaults } from './support/axe.ts';
import { readContent } from './support/chromium.ts';
import { watchCopies } from './support/clipboard.ts';
import { type Console, openConsole, openSender, type Sender, withColumns } from './support/console.ts';
import { readWidth } from './support/looks.ts';

const { describe, test } = needing('chromium-headless-shell');

/** A range of whole UTC days. Both days are included. */
interface Days {
  readonly from: string;
  readonly to: string;
}

const day = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * day);

let console: Console;
let shop: Sender;
let wide: Sender;

/** Fills in three weeks of a flag with a single variant, and of a flag whose name looks like a formula. */
async function fillShop(): Promise<void> {
  shop = await openSender(console, 'Shop');
  await console.manage('POST', `/api/v2/applications/${shop.application}/features`, 201, { name: 'checkout' });
  for (const [ago, checks] of [
    [20, 50],
    [10, 100],
    [3, 150],
    [2, 150],
  ] as const)
    await shop.report(
      daysAgo(ago),
      {
        checkout: { on: [checks * 0.6, checks * 0.3, checks * 0.2], off: [checks * 0.4] },
        'search-ranking': { on: [20, 10, 5] },
        '=dangerous': { on: [1] },
      },
      { users: Array.from({ length: checks / 10 }, (_, index) => index) },
    );
}

/** Fills in more flags than fit on a screen. */
async function fillWide(): Promise<void> {
  wide = await openSender(console, 'Wide');
  const features = Array.from({ length: 400 }, (_, index) => [`flag-${index}`, { on: [1000 - index] }] as const);
  await wide.report(daysAgo(1), Object.fromEntries(features));
}

beforeAll(async () => {
  console = await openConsole(['--max-features', '5000']);
  await Promise.all([fillShop(), fillWide()]);
});

afterAll(async () => {
  await console?.close();
  cleanUp();
});

const featuresAddress = ({ application }: Sender, query = '', environment = 'Production') =>
  `/apps/${application}/${environment}/flags${query}`;

const tile = (page: Page, name: string) =>
  page.getByRole('group', { name: 'What the chart shows' }).getByRole('button', { name: new RegExp(`^${name}`) });
const rows = (page: Page) => page.getByRole('grid').locator('[data-index]');
const firstRow = (page: Page) => page.locator('[data-index="0"]');
const names = (page: Page) => rows(page).getByRole('rowheader').allInnerTexts();
const search = (page: Page) => page.getByRole('searchbox', { name: 'Search flags' });

describe('the figures of the overview', () => {
  test('a figure of the overview shows its change from the preceding period of the same length', async () => {
    const { page } = await console.visit(featuresAddress(shop));
    const checks = tile(page, 'Checks');
    await checks.waitFor();
    // The counts are 2 × (150 + 20 + 1) and 100 + 20 + 1.
    await expect.poll(() => checks.innerText()).toMatch(/342[\s\S]*▲\s+up\s+183%\s+vs previous 7 days/);
    await expect.poll(() => tile(page, 'People').innerText()).toMatch(/15\s+\(/);
    await withColumns(page, ['Checks', 'Change', 'Used', 'Viewed', 'Variants'], async () => {
      const row = firstRow(page);
      await expect.poll(() => row.innerText()).toMatch(/^checkout[\s\S]*300\s+▲\s+up\s+200%\s+30%\s+20%/);
      await row.getByText('on 60%, off 40%').waitFor();
    });
  });

  test('a click on a figure of the overview shows the chart of the figure, and the address keeps the choice', async () => {
    const { page } = await console.visit(featuresAddress(shop));
    await page.getByRole('application', { name: 'Checks per hour' }).waitFor();
    await tile(page, 'People').click();
    await page.getByRole('application', { name: 'People per day' }).waitFor();
    await page.reload();
    await page.getByRole('application', { name: 'People per day' }).waitFor();
    expect(await tile(page, 'People').getAttribute('aria-pressed')).toBe('true');
  });

  test('the overview compares users over the same number of complete days', async () => {
    const { page } = await console.visit(featuresAddress(shop));
    const overviewResponse = await page.waitForResponse((response) => /overview\?/.test(response.url()));
    const { usersBefore } = (await overviewResponse.json()) as { usersBefore: Days & { against: Days } };
    const daysIn = ({ from, to }: Days) => (Date.parse(to) - Date.parse(from)) / day + 1;
    expect(daysIn(usersBefore)).toBe(daysIn(usersBefore.against));
    expect(Date.parse(usersBefore.against.to) + day).toBeLessThanOrEqual(Date.now());
    const short = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
    const text = ({ from, to }: Days) => short.formatRange(new Date(from), new Date(to)).replaceAll(/\s/g, ' ');
    // The same people are counted on both days.
    await expect.poll(() => tile(page, 'People').innerText()).toContain('15');
    await expect
      .poll(async () => (await tile(page, 'People').innerText()).replaceAll(/\s/g, ' '))
      .toContain(`${text(usersBefore.against)} vs ${text(usersBefore)}`);
    // On a laptop, the tile has two lines below its name: the figure with its days, and the change.
    const line = await tile(page, 'People').locator('.overview-tile-line').boundingBox();
    expect(line?.height).toBeLessThan(62);
  });

  test('the overview shows no change if the previous range has no records', async () => {
    const { page } = await console.visit(featuresAddress(wide, '?range=1h'));
    await firstRow(page).waitFor();
    expect(await page.getByText('before').count()).toBe(0);
  });
});

describe('the flags of the overview', () => {
  test('the address of the overview keeps the search, the filter and the order', async () => {
    const { page } = await console.visit(featuresAddress(shop));
    await firstRow(page).waitFor();
    await page.getByRole('link', { name: '2 unknown flags' }).click();
    await expect.poll(() => names(page)).toEqual(['search-ranking', '=dangerous']);
    await page.getByRole('button', { name: /^Flag/ }).click();
    await expect.poll(() => names(page)).toEqual(['=dangerous', 'search-ranking']);
    await page.keyboard.press('/');
    await page.keyboard.type('RANK');
    await expect.poll(() => names(page)).toEqual(['search-ranking']);
    await page.reload();
    await expect.poll(() => names(page)).toEqual(['search-ranking']);
    expect(await search(page).inputValue()).toBe('RANK');
    expect(await page.getByRole('columnheader', { name: 'Flag', exact: true }).getAttribute('aria-sort')).toBe(
      'ascending',
    );
    await search(page).fill('nothing has this name');
    await page.getByRole('button', { name: 'Show all flags' }).click();
    await expect.poll(() => names(page)).toHaveLength(3);
  });

  test('the overview renders only the visible flags, and the keyboard reaches all flags', async () => {
    const { page } = await console.visit(featuresAddress(wide));
    await firstRow(page).waitFor();
    expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe('401');
    expect(await rows(page).count()).toBeLessThan(60);
    await firstRow(page).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('PageDown');
    await page.keyboard.press('End');
    const last = page.locator('[data-index="399"]');
    await page.locator('[data-index="399"]:focus').waitFor();
    expect(await last.getAttribute('aria-rowindex')).toBe('401');
    await expect.poll(() => last.innerText()).toMatch(/^flag-399/);
    expect(await rows(page).count()).toBeLessThan(60);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/flag\?name=flag-398/);
  });

  test('a row of the overview keeps the focus when figures change', async () => {
    const sender = await openSender(console, 'Moving');
    await sender.packet({ first: { on: [5] }, second: { on: [3] } });
    const { page } = await console.visit(featuresAddress(sender, '?range=1h'));
    await firstRow(page).waitFor();
    await page.locator('[data-index="1"]').focus();
    await sender.packet({ second: { on: [40] } });
    const focused = page.locator('[role=row]:focus');
    await expect.poll(() => focused.innerText()).toMatch(/second[\s\S]*43/);
  });

  test('the overview shows a hint instead of the table until a flag is seen', async () => {
    const { page } = await console.visit(featuresAddress(shop, '', 'Staging'));
    await page.getByRole('heading', { name: 'No flag was seen in Staging yet' }).waitFor();
    expect(await tile(page, 'Checks').count()).toBe(0);
  });
});

describe('downloads and links', () => {
  test('the CSV file of the overview contains all rows, and no text that a spreadsheet treats as a formula', async () => {
    const { page } = await console.visit(featuresAddress(shop));
    await firstRow(page).waitFor();
    await page.getByRole('button', { name: 'Export: Flags' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('flags-Production.csv');
    const lines = (await readContent(download)).toString().split('\r\n');
    expect(lines[0]).toMatch(/^\ufeffFlag,State,Checks,People \([^)]+\),Last seen,Owner$/);
    expect(lines.find((line) => line.startsWith('checkout'))).toMatch(/,300,15,/);
    expect(lines.some((line) => line.startsWith("'=dangerous"))).toBe(true);
  });

  test('a copied link to the overview contains a relative range or fixed times', async () => {
    const { page } = await console.visit(featuresAddress(shop, '?search=check'));
    await firstRow(page).waitFor();
    const copied = await watchCopies(page);
    const copy = async (item: RegExp) => {
      await page.getByRole('button', { name: 'Export: Flags' }).click();
      await page.getByRole('menuitem', { name: item }).click();
      await page.getByText('Link copied').waitFor({ state: 'attached' });
      return new URL(await copied()).searchParams;
    };
    const moving = await copy(/^Copy link to the last 7 days/);
    expect(Object.fromEntries(moving)).toEqual({ search: 'check', range: '7d', tz: expect.any(String) });
    const fixed = await copy(/^Copy link to (?!the last)/);
    expect(Date.parse(fixed.get('to')!) - Date.parse(fixed.get('from')!)).toBe(7 * day);
  });
});

describe('live figures', () => {
  test('the overview updates without a reload, and its request gets status 304 if nothing has changed', async () => {
    const { page } = await console.visit(featuresAddress(shop, '?range=1h'));
    await expect.poll(() => tile(page, 'Checks').innerText()).toMatch(/Checks\s+0/);
    const unchanged = page.waitForResponse((response) => response.status() === 304);
    await shop.packet({ checkout: { on: [7, 3] } });
    await expect.poll(() => tile(page, 'Checks').innerText()).toMatch(/Checks\s+7/);
    await unchanged;
    await page.getByText('live', { exact: true }).waitFor();
  });

  test('the overview in a hidden tab sends no requests until the tab is visible again', async () => {
    const { page } = await console.visit(featuresAddress(shop), { ownContext: true });
    await page.clock.install();
    await page.reload();
    await firstRow(page).waitFor();
    let asked = 0;
    page.on('request', (request) => {
      if (request.url().includes('/overview')) asked += 1;
    });
    const show = (hidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} });
        document.dispatchEvent(new Event('visibilitychange'));`);
    await show(true);
    // A request that is in progress can still finish.
    await page.waitForTimeout(500);
    asked = 0;
    await page.clock.runFor(60_000);
    expect(asked).toBe(0);
    await show(false);
    await expect.poll(() => asked).toBeGreaterThan(0);
    expect(await rows(page).count()).toBe(3);
  });

  test('the overview of a fixed range is read once, and links to the relative range', async () => {
    const { page } = await console.visit(featuresAddress(shop, '?range=30d'));
    const chart = page.getByRole('application', { name: 'Checks per day' });
    await chart.focus();
    for (const key of ['Home', 'Shift+End', 'Enter']) await page.keyboard.press(key);
    await page.waitForURL(/from=.*to=/);
    await page.getByText('fixed range').waitFor();
    await page.getByRole('button', { name: 'Back to 30 days' }).click();
    await page.waitForURL(/\?range=30d$/);
    await page.getByText('live', { exact: true }).waitFor();
  });

  test('the overview without a network keeps its figures, shows since when it is offline, and recovers', async () => {
    const expected = /net::ERR_INTERNET_DISCONNECTED/;
    const { page, context } = await console.visit(featuresAddress(shop), { expected });
    await firstRow(page).waitFor();
    await context.setOffline(true);
    await page.getByText(/^offline since \d/).waitFor();
    expect(await rows(page).count()).toBe(3);
    await context.setOffline(false);
    await page.getByText('live', { exact: true }).waitFor();
  });
});

describe('the overview', () => {
  test('the overview passes axe-core in light and dark mode', async () => {
    const { page } = await console.visit(featuresAddress(shop));
    await firstRow(page).waitFor();
    expect(await schemeFaults(page)).toEqual([]);
  });

  test('the overview fits narrow and wide screens', async () => {
    const height = 800;
    const { page } = await console.visit(featuresAddress(shop), { viewport: { width: 320, height } });
    await firstRow(page).waitFor();
    for (const width of [320, 390, 768, 1280, 2560]) {
      await page.setViewportSize({ width, height });
      await expect.poll(() => readWidth(page)).toBe(width);
      for (const name of ['Checks', 'Used', 'Viewed', 'People', 'Refused']) {
        const { x = -1, width: wide = 0 } = (await tile(page, name).boundingBox()) ?? {};
        expect(x, `${name} at ${width} px`).toBeGreaterThanOrEqual(0);
        expect(x + wide, `${name} at ${width} px`).toBeLessThanOrEqual(width);
      }
    }
  });
});
