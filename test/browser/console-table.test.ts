import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { type Console, openConsole, openSender, type Sender } from './support/console.ts';

const { describe, test } = needing('chromium');

let console: Console;
let shop: Sender;

const flags = 60;

beforeAll(async () => {
  console = await openConsole();
  shop = await openSender(console);
  const counts = Array.from({ length: flags }, (_, index) => [
    `flag-${index}`,
    { on: [1000 - index, 500], off: [100] },
  ]);
  await shop.report(new Date(Date.now() - 3_600_000), Object.fromEntries(counts));
});

afterAll(async () => {
  await console?.close();
  cleanUp();
});

const flagsPage = (query = '') => `/apps/${shop.application}/Production/flags${query}`;
const rows = (page: Page) => page.getByRole('grid').locator('[data-index]');
const row = (page: Page, index: number) => page.locator(`[data-index="${index}"]`);
const cell = (page: Page, index: number, key: string) => row(page, index).locator(`.vcell-${key}`);

describe('a click on a row', () => {
  test('opens the flag from any of its cells', async () => {
    const { page } = await console.visit(flagsPage());
    for (const key of ['checks', 'state', 'variants']) {
      await cell(page, 1, key).click();
      await page.getByRole('heading', { level: 1, name: 'flag-1' }).waitFor();
      await page.goBack();
    }
  });

  test('opens a tab with Ctrl and with the middle button', async () => {
    const { page, context } = await console.visit(flagsPage());
    const ways: Parameters<Locator['click']>[0][] = [{ modifiers: ['Control'] }, { button: 'middle' }];
    for (const how of ways) {
      const [tab] = await Promise.all([context.waitForEvent('page'), cell(page, 2, 'checks').click(how)]);
      await tab.getByRole('heading', { level: 1, name: 'flag-2' }).waitFor();
      await tab.close();
    }
    expect(new URL(page.url()).pathname).toBe(flagsPage());
  });

  test('opens nothing after selecting text', async () => {
    const { page } = await console.visit(flagsPage());
    const { x, y, width, height } = (await cell(page, 1, 'state').boundingBox())!;
    await page.mouse.move(x + 25, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width - 5, y + height / 2, { steps: 3 });
    await page.mouse.up();
    expect(await page.evaluate('getSelection().toString().length')).toBeGreaterThan(0);
    expect(new URL(page.url()).pathname).toBe(flagsPage());
  });
});

describe('on paper', () => {
  test.each(['light', 'dark'] as const)(
    'the page has all rows and no navigation, in the %s theme',
    async (theme) => {
      const { page } = await console.visit(flagsPage(), { colorScheme: theme });
      await row(page, 0).waitFor();
      await page.locator('.chart canvas').waitFor();
      expect(await rows(page).count()).toBeLessThan(flags);
      const pdf = await page.pdf({ format: 'A4', printBackground: true });
      expect(pdf.toString('latin1').match(/\/Type \/Page\b/g)!.length).toBeGreaterThan(1);
      await page.emulateMedia({ media: 'print' });
      await expect.poll(() => rows(page).count()).toBe(flags);
      expect(await page.getByRole('navigation').count()).toBe(0);
      expect(await page.getByRole('button', { name: 'Range: 7 days' }).isVisible()).toBe(true);
      expect(await page.evaluate(`getComputedStyle(document.body).backgroundColor`)).toBe(
        'rgb(255, 255, 255)',
      );
      const canvas = await page.locator('.chart canvas').boundingBox();
      expect(canvas!.width).toBeLessThan(700);
      await page.emulateMedia({ media: null });
      await expect.poll(() => rows(page).count()).toBeLessThan(flags);
    },
  );
});
