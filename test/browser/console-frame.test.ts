import { afterAll, beforeAll, expect } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { axeFaults } from './support/axe.ts';
import { phone } from './support/chromium.ts';
import { type Console, openConsole, openSender } from './support/console.ts';
import { cutTexts, readWidth } from './support/looks.ts';

const { describe, test } = needing('chromium-headless-shell');

const narrowest = { width: 320, height: 600 };

let console: Console;
let shop: string;

beforeAll(async () => {
  console = await openConsole();
  shop = (await openSender(console, 'Shop')).application;
});

afterAll(async () => {
  await console?.close();
  cleanUp();
});

const featuresAddress = () => `/apps/${shop}/Production/flags`;

describe('the switchers', () => {
  test('the keyboard switches the environment, and the range is kept', async () => {
    const { page } = await console.visit(`/apps/${shop}/Production/metrics?range=30d`);
    await page.getByRole('button', { name: 'Environment: Production' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('a[aria-current]:focus').waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/Staging\/metrics\?range=30d$/);
    await page.locator('.popover').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Environment: Staging' }).press('Enter');
    await page.locator('.popover a:focus').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('[aria-label="Environment: Staging"]:focus').waitFor();
  });

  test('a long list of applications has a search field', async () => {
    const environments = Array.from({ length: 12 }, (_, index) => `Region ${index + 1}`);
    const { application } = await openSender(console, 'Many regions', { environments });
    const { page } = await console.visit(`/apps/${application}/Region%201/flags`);
    await page.getByRole('button', { name: 'Environment: Region 1' }).click();
    await page.getByRole('searchbox').fill('region 12');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/Region%2012\/flags/);
  });
});

test('the theme that a user chooses is stored', async () => {
  const { page } = await console.visit(featuresAddress(), { colorScheme: 'light' });
  const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
  await page.getByRole('button', { name: /^Account/ }).click();
  const light = await ground();
  await page.getByRole('menuitemradio', { name: 'Dark' }).click();
  await expect.poll(ground).not.toBe(light);
  await page.reload();
  await page.locator('main').waitFor();
  await expect.poll(ground).not.toBe(light);
});

test('keyboard shortcuts switch pages, and a dialog lists the shortcuts', async () => {
  const { page } = await console.visit(featuresAddress());
  await page.getByRole('link', { name: 'Application settings' }).waitFor();
  const tabs = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
  expect(await tabs.allTextContents()).toEqual([
    ...['Flags', 'Experiments', 'Clean-up', 'Activity', 'Metrics', 'Ingest', 'People', 'Connect'],
    'Application settings',
  ]);
  const tops = await Promise.all((await tabs.all()).map(async (tab) => (await tab.boundingBox())?.y));
  expect(new Set(tops).size, 'lines of tabs').toBe(1);
  expect(await readWidth(page)).toBe(1280);
  await page.keyboard.press('?');
  const dialog = page.getByRole('dialog', { name: 'Shortcuts' });
  await dialog.getByRole('row', { name: 'g then p Go to People' }).waitFor();
  await dialog.getByRole('row', { name: 'g then u Go to Clean-up' }).waitFor();
  await dialog.getByRole('row', { name: 'g then l Go to Audit log' }).waitFor();
  await dialog.getByRole('row', { name: 'In a chart: select a range' }).waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.keyboard.press('g');
  await page.keyboard.press('p');
  await page.waitForURL(/\/people/);
  await page.locator('main h1:focus').waitFor();
  await expect.poll(() => page.title()).toMatch(/Production · Shop · flagmeter$/);
});

test('the settings and the audit log link back to the most recently shown environment', async () => {
  const { page } = await console.visit(`/apps/${shop}/Staging/people`);
  await page.getByRole('heading', { name: 'People' }).waitFor();
  for (const path of ['/settings/team', `/settings/application?app=${shop}`, '/audit']) {
    await page.goto(console.origin + path);
    await page.getByRole('button', { name: 'Application: Shop' }).waitFor();
    await page.getByRole('button', { name: 'Environment: Staging' }).waitFor();
    const featuresLink = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Flags' });
    expect(await featuresLink.getAttribute('href'), path).toBe(`/apps/${shop}/Staging/flags`);
  }
});

test('the docs pass axe-core in both themes, even without scripts', async () => {
  const { page } = await console.visit('/docs', { signedIn: false, colorScheme: 'light' });
  await page.locator('main').getByRole('link', { name: 'Semantics' }).click();
  await page.getByRole('heading', { name: 'Semantics', level: 1 }).waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize(narrowest);
  expect(await axeFaults(page)).toEqual([]);
  expect(await readWidth(page)).toBe(narrowest.width);
});

test('the search of the docs finds headings and text in all documents', async () => {
  const { page } = await console.visit('/docs', { signedIn: false });
  const field = page.getByRole('searchbox', { name: 'Search the docs' });
  await field.fill('verdict silence senders');
  const results = page.getByRole('region', { name: 'Search results' });
  await results.getByRole('link', { name: 'Semantics: The verdict' }).waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await field.fill('no-such-word');
  await results.getByText('No results for “no-such-word”').waitFor();
  await field.fill('--commit-delay fewer');
  await results.getByRole('link', { name: 'Performance: Fewer writes' }).click();
  await page.getByRole('heading', { name: 'Fewer writes' }).waitFor();
  expect(new URL(page.url()).pathname + new URL(page.url()).hash).toBe('/docs/performance#fewer-writes');
  expect(await results.count()).toBe(0);
});

test('the console passes axe-core with an open menu, in both themes', async () => {
  const { page } = await console.visit(`/apps/${shop}/Production/nothing`, { colorScheme: 'light' });
  await page.getByRole('heading').waitFor();
  await page.getByRole('button', { name: 'Environment: Production' }).click();
  await page.locator('.popover').waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitemradio', { name: 'Dark' }).waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await axeFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.setViewportSize(narrowest);
  await page.getByRole('button', { name: 'Environment: Production' }).click();
  await page.locator('.popover').waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  expect(await readWidth(page)).toBe(narrowest.width);
});

test('every text that a narrow screen cuts off has a tooltip', async () => {
  const sender = await openSender(console, 'A shop with quite a long name');
  const name = 'a-flag-whose-name-is-longer-than-the-narrowest-screen-is-wide';
  await sender.packet({ [name]: { 'a-variant-with-a-long-name': [3, 2, 1], off: [4, 1, 1] } });
  const here = `/apps/${sender.application}/Production`;
  const { page } = await console.visit(`${here}/flags`, { viewport: narrowest });
  await page.getByRole('link', { name }).waitFor();
  for (const path of ['flags', `flag?name=${name}`, 'metrics', 'ingest', 'people', 'connect']) {
    await page.goto(`${console.origin}${here}/${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
    for (const width of [640, narrowest.width]) {
      await page.setViewportSize({ ...narrowest, width });
      await expect.poll(() => readWidth(page), { message: path }).toBe(width);
      expect(await cutTexts(page), `${path} at ${width} px`).toEqual([]);
    }
  }
});

describe('a phone', () => {
  test.each([
    ['flags', '.overview-tile-value'],
    ['flag?name=checkout', '.flag-head strong'],
  ])('the page %s shows its first number within 250 px of the top of a phone', async (path, number) => {
    const sender = await openSender(console, `Phone ${path}`);
    await sender.packet({ checkout: { on: [3, 2, 1], off: [4, 1, 1] } });
    const { page } = await console.visit(`/apps/${sender.application}/Production/${path}`, phone);
    await page.locator(number).filter({ hasText: '7' }).first().waitFor();
    const bottom = await page.locator(number).first().boundingBox();
    expect(bottom!.y + bottom!.height).toBeLessThanOrEqual(250);
    expect(await readWidth(page)).toBe(phone.viewport.width);
  });

  test('a phone has a bar of pages at the bottom, and shows the other pages behind More', async () => {
    const { page } = await console.visit(featuresAddress(), phone);
    const pages = page.getByRole('navigation', { name: 'Pages' });
    await pages.getByRole('button', { name: 'More' }).waitFor();
    expect(await pages.getByRole('link').allTextContents()).toEqual(['Flags', 'Experiments', 'Clean-up']);
    const { y, height } = (await pages.boundingBox())!;
    expect(y + height).toBe(phone.viewport.height);
    await pages.getByRole('button', { name: 'More' }).click();
    expect(await axeFaults(page)).toEqual([]);
    await pages.getByRole('link', { name: 'Metrics' }).click();
    await page.waitForURL(/\/metrics/);
    await pages.getByRole('link', { name: 'Metrics' }).waitFor({ state: 'hidden' });
  });

  test('one sheet on a phone offers the range, the comparison and the time zone', async () => {
    const { page } = await console.visit(featuresAddress(), phone);
    await page.getByRole('button', { name: /^Range: 7 days/ }).click();
    const sheet = page.getByRole('menu');
    for (const name of ['24 hours', 'vs previous period']) await sheet.getByRole('menuitemradio', { name }).waitFor();
    await sheet.getByRole('menuitem', { name: 'Time zone …' }).click();
    await page.getByRole('dialog', { name: 'Time zone' }).waitFor();
  });
});
