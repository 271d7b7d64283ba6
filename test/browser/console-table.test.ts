import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { axeFaults } from './support/axe.ts';
import { readContent } from './support/chromium.ts';
import { type Console, openConsole, openSender, type Sender } from './support/console.ts';

const { describe, test } = needing('chromium-headless-shell');

let console: Console;
let shop: Sender;

const featureCount = 60;

beforeAll(async () => {
  console = await openConsole();
  shop = await openSender(console);
  const counts = Array.from({ length: featureCount }, (_, index) => [
    `flag-${index}`,
    { on: [1000 - index, 500], off: [100] },
  ]);
  await shop.report(new Date(Date.now() - 3_600_000), Object.fromEntries(counts));
});

afterAll(async () => {
  await console?.close();
  cleanUp();
});

const featuresAddress = (query = '') => `/apps/${shop.application}/Production/flags${query}`;
const rows = (page: Page) => page.getByRole('grid').locator('[data-index]');
const row = (page: Page, index: number) => page.locator(`[data-index="${index}"]`);
const cell = (page: Page, index: number, key: string) => row(page, index).locator(`.vcell-${key}`);

describe('a click on a row', () => {
  test('a click in any column of a row opens the flag of the row', async () => {
    const { page } = await console.visit(featuresAddress());
    for (const key of ['checks', 'state', 'last']) {
      await cell(page, 1, key).click();
      await page.getByRole('heading', { level: 1, name: 'flag-1' }).waitFor();
      await page.goBack();
    }
  });

  test('a click on a row with Ctrl or the middle button opens a new tab', async () => {
    const { page, context } = await console.visit(featuresAddress());
    const ways: Parameters<Locator['click']>[0][] = [{ modifiers: ['Control'] }, { button: 'middle' }];
    for (const how of ways) {
      const [tab] = await Promise.all([context.waitForEvent('page'), cell(page, 2, 'checks').click(how)]);
      await tab.getByRole('heading', { level: 1, name: 'flag-2' }).waitFor();
      await tab.close();
    }
    expect(new URL(page.url()).pathname).toBe(featuresAddress());
  });

  test('a click that ends a selection of text does not open the row', async () => {
    const { page } = await console.visit(featuresAddress());
    await page.locator('.chart canvas').waitFor();
    await cell(page, 1, 'state').scrollIntoViewIfNeeded();
    const { x, y, width, height } = (await cell(page, 1, 'state').boundingBox())!;
    await page.mouse.move(x + 25, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width - 5, y + height / 2, { steps: 3 });
    await page.mouse.up();
    expect(await page.evaluate('getSelection().toString().length')).toBeGreaterThan(0);
    expect(new URL(page.url()).pathname).toBe(featuresAddress());
  });
});

describe('the printed page', () => {
  test.each(['light', 'dark'] as const)('the printed page shows all rows in the %s theme', async (theme) => {
    const { page } = await console.visit(featuresAddress(), { colorScheme: theme });
    await row(page, 0).waitFor();
    await page.locator('.chart canvas').waitFor();
    expect(await rows(page).count()).toBeLessThan(featureCount);
    const pdf = await page.pdf({ format: 'A4', printBackground: true });
    expect(pdf.toString('latin1').match(/\/Type \/Page\b/g)!.length).toBeGreaterThan(1);
    await page.emulateMedia({ media: 'print' });
    await expect.poll(() => rows(page).count()).toBe(featureCount);
    expect(await page.getByRole('navigation').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Range: 7 days' }).isVisible()).toBe(true);
    expect(await page.evaluate(`getComputedStyle(document.body).backgroundColor`)).toBe('rgb(255, 255, 255)');
    const canvas = await page.locator('.chart canvas').boundingBox();
    expect(canvas!.width).toBeLessThan(700);
    await page.emulateMedia({ media: null });
    await expect.poll(() => rows(page).count()).toBeLessThan(featureCount);
  });
});

test('each user can select and order the columns of the table, and restore the default', async () => {
  const { page, tab } = await console.visit(featuresAddress());
  const heads = (page: Page) => page.getByRole('columnheader').allInnerTexts();
  await row(page, 0).waitFor();
  expect((await heads(page)).join()).toMatch(/Flag,State,Checks[^,]*,People[^,]*,Last seen,Owner$/);
  await page.getByRole('button', { name: 'Columns' }).click();
  const dialog = page.getByRole('dialog', { name: 'Columns' });
  await dialog.getByLabel(/^People/).uncheck();
  await dialog.getByLabel('First seen', { exact: true }).check();
  await dialog.getByRole('button', { name: 'Move State down' }).click();
  expect(await axeFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect
    .poll(async () => (await heads(page)).join())
    .toMatch(/Flag,Checks[^,]*,State,Last seen,Owner,First seen/);
  const other = await tab(featuresAddress());
  await expect.poll(async () => (await heads(other)).join()).toMatch(/First seen/);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('button', { name: 'Restore default columns' }).click();
  await expect.poll(async () => (await heads(page)).join()).toMatch(/Flag,State,Checks/);
});

describe('selected flags', () => {
  const bulk = (page: Page) => page.getByRole('region', { name: 'Selected flags' });
  const change = async (page: Page, action: string) => {
    await bulk(page)
      .getByRole('button', { name: /^Change/ })
      .click();
    await page.getByRole('menuitem', { name: action, exact: true }).click();
  };
  const feature = (name: string) =>
    console.manage('GET', `/api/v2/applications/${shop.application}/features/${name}`, 200);

  test('a bulk change applies to all selected flags, and can be undone', async () => {
    const { page } = await console.visit(featuresAddress());
    await page.getByLabel('Select flag flag-0', { exact: true }).click();
    await page.getByLabel('Select flag flag-3', { exact: true }).click({ modifiers: ['Shift'] });
    await bulk(page).getByText('4 flags selected').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await change(page, 'Keep until …');
    await page.getByRole('dialog').getByLabel('Keep for ever').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Keep flags' }).click();
    await bulk(page).getByText('4 flags kept for ever.').waitFor();
    expect(await feature('flag-2')).toMatchObject({ permanent: true });
    await bulk(page).getByRole('button', { name: 'Undo' }).click();
    await bulk(page).getByText('4 flags restored.').waitFor();
    expect(await feature('flag-2')).toMatchObject({ permanent: false });
  });

  test('the keyboard selects flags, and a bulk change continues after the failure of one flag', async () => {
    const { page } = await console.visit(featuresAddress('?search=flag-5'));
    await row(page, 0).focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+Space');
    await bulk(page).getByText('3 flags selected').waitFor();
    await page.route('**/features/flag-50', (route) =>
      route.fulfill({ status: 403, json: { code: 'plan_limit', detail: 'Cannot have more' } }),
    );
    await change(page, 'Declare');
    await bulk(page).getByText('2 flags declared, 1 failed.').waitFor();
    await bulk(page).getByText('flag-50: Cannot have more').waitFor();
    expect(await feature('flag-51')).toMatchObject({ declared: true });
  });
});

test('a view is saved, opened by its link, updated and deleted', async () => {
  const { page } = await console.visit(featuresAddress('?search=flag-1&sort=flag'));
  const menu = page.getByRole('button', { name: 'Views' });
  await menu.click();
  await page.getByRole('menuitem', { name: 'Save this view' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Ones');
  await dialog.getByText('Shared', { exact: true }).click();
  expect(await axeFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Save' }).click();
  const link = page.getByRole('navigation', { name: 'Favourite views' }).getByRole('link', { name: 'Ones' });
  await link.waitFor();
  await page.goto(console.origin + featuresAddress('?search=other'));
  await link.click();
  await expect.poll(() => new URL(page.url()).search).toBe('?search=flag-1&sort=flag');
  await page.getByRole('searchbox', { name: 'Search flags' }).fill('flag-2');
  await menu.click();
  await page.getByRole('menuitem', { name: 'Manage views' }).click();
  await dialog.getByRole('button', { name: 'Update' }).click();
  await expect
    .poll(() => console.manage('GET', `/api/v2/applications/${shop.application}/views`, 200))
    .toMatchObject({ items: [{ name: 'Ones', query: 'search=flag-2&sort=flag', shared: true }] });
  expect(await axeFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByText('No saved views.').waitFor();
  await expect.poll(() => link.count()).toBe(0);
});

test('a chart is saved as an image on a light background, even in the dark theme', async () => {
  const { page } = await console.visit(featuresAddress(), { colorScheme: 'dark' });
  await page.getByRole('button', { name: /^Export: Checks/ }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'PNG' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^Checks.*\.png$/);
  const png = await readContent(download);
  expect(png.subarray(1, 4).toString()).toBe('PNG');
  expect(png.readUInt32BE(16)).toBe(1008);
  expect(await page.locator('.chart-picture').count()).toBe(0);
  const drawn = await page.evaluate(`(async () => {
    const bitmap = await createImageBitmap(new Blob([new Uint8Array(${JSON.stringify([...png])})]));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const context = canvas.getContext('2d');
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
    const colours = new Set();
    for (let at = 0; at < data.length; at += 4) colours.add(data.slice(at, at + 3).join());
    return [data.slice(0, 4).join(), colours.has('0,114,178')];
  })()`);
  expect(drawn).toEqual(['255,255,255,255', true]);
});

test('the overview shows several environments next to each other', async () => {
  await shop.packet({ 'flag-7': { on: [5], off: [15] } }, 'Staging');
  const { page } = await console.visit(featuresAddress('?search=flag-7'));
  await page.getByRole('button', { name: 'All environments' }).click();
  const grid = page.getByRole('grid', { name: 'Flags by environment' });
  await expect
    .poll(() => grid.getByRole('columnheader').allInnerTexts())
    .toEqual(['Flag', expect.stringMatching(/^Production/), 'Staging', 'Development']);
  await grid.getByRole('row', { name: /flag-7 on 91% .* off 75% · 20 · .* not seen here/ }).waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'All environments' }).click();
  await page.getByRole('grid', { name: 'Flags', exact: true }).waitFor();
});

test('the six default columns of the table fit a page of 1024 px, and a narrower table is compact', async () => {
  const feature = `/api/v2/applications/${shop.application}/features/flag-1`;
  const patch = { owners: [{ type: 'text', name: 'Payments' }], split: { on: 1, off: 1 } };
  await console.manage('PATCH', feature, 200, patch);
  const { page } = await console.visit(featuresAddress('?range=24h'));
  for (const width of [1000, 1024, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    for (const column of ['users', 'owners'])
      await cell(page, 1, column).waitFor({ state: width >= 1024 ? 'visible' : 'hidden' });
    expect(await page.evaluate('document.documentElement.scrollWidth'), `${width}`).toBe(width);
  }
});
