import { afterAll, beforeAll, expect } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { axeFaults } from './support/axe.ts';
import { type Console, openConsole, openSender } from './support/console.ts';
import { cutTexts, widthOf } from './support/looks.ts';

const { describe, test } = needing('chromium');

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

const flags = () => `/apps/${shop}/Production/flags`;

describe('an unknown address', () => {
  test.each([
    ['an application that does not exist', () => '/apps/app_0/Production/flags', 'All applications'],
    ['an environment that does not exist', () => `/apps/${shop}/Nowhere/flags`, 'Staging'],
    ['a page that does not exist', () => `/apps/${shop}/Production/nothing`, 'All applications'],
    ['what is not well encoded', () => '/apps/%25E0/x/flags', 'All applications'],
  ])('such as %s links to the start page', async (_, path, way) => {
    const { page } = await console.visit(path());
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    await expect.poll(() => page.title()).toMatch(/^Not found · /);
    await page.locator('main').getByRole('link', { name: way }).click();
    await page.waitForURL(way === 'Staging' ? /\/Staging\/flags$/ : `${console.origin}/`);
  });
});

describe('the switchers', () => {
  test('switch the environment by keyboard, and keep the range', async () => {
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

  test('have a search field for long lists', async () => {
    const environments = Array.from({ length: 12 }, (_, index) => `Region ${index + 1}`);
    const { application } = await openSender(console, 'Many regions', { environments });
    const { page } = await console.visit(`/apps/${application}/Region%201/flags`);
    await page.getByRole('button', { name: 'Environment: Region 1' }).click();
    await page.getByRole('searchbox').fill('region 12');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/Region%2012\/flags/);
  });
});

test('stores the chosen theme', async () => {
  const { page } = await console.visit(flags(), { colorScheme: 'light' });
  const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
  await page.getByRole('button', { name: /^Account/ }).click();
  const light = await ground();
  await page.getByRole('menuitemradio', { name: 'Dark' }).click();
  await expect.poll(ground).not.toBe(light);
  await page.reload();
  await page.locator('main').waitFor();
  await expect.poll(ground).not.toBe(light);
});

test('shortcuts switch pages, and are listed', async () => {
  const { page } = await console.visit(flags());
  await page.getByRole('link', { name: 'Application settings' }).waitFor();
  const pages = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents();
  const first = ['Flags', 'Experiments', 'Clean-up', 'Activity'];
  const order = [...first, 'Metrics', 'Ingest', 'People', 'Connect', 'Application settings'];
  expect(pages.length).toBeGreaterThan(5);
  expect(pages).toEqual(order.filter((each) => pages.includes(each)));
  await page.keyboard.press('?');
  const dialog = page.getByRole('dialog', { name: 'Shortcuts' });
  await dialog.getByRole('row', { name: 'g then p Go to People' }).waitFor();
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

describe('a page', () => {
  test('loads its scripts with the document, and the others afterwards, for when the server is away', async () => {
    const { page, context } = await console.visit('/audit', { expected: /net::ERR_/ });
    const paths = [flags(), '/settings'].map(async (path) => {
      const document = await (await page.request.get(console.origin + path)).text();
      return Array.from(document.matchAll(/rel="modulepreload" href="([^"]+)"/g), ([, name]) => name!);
    });
    const hinted = (await Promise.all(paths)).flat();
    expect(hinted.some((path) => path.includes('/overview-'))).toBe(true);
    const loaded = () =>
      page.evaluate(`performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)`);
    await expect.poll(loaded, { timeout: 30_000 }).toEqual(expect.arrayContaining(hinted));
    await context.setOffline(true);
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Settings' }).click();
    await page.getByRole('navigation', { name: 'Settings' }).waitFor();
  });

  test('that cannot be loaded shows a message, and is loaded when it is opened again', async () => {
    const { page } = await console.visit(`/apps/${shop}/Production/people`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.route(/\/console\/files\/audit-/, (route) => route.fulfill({ status: 404 }));
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
    await page.getByRole('button', { name: 'Reload' }).waitFor();
    await page.unroute(/\/console\/files\/audit-/);
    await page.goBack();
    await page.getByRole('heading', { name: 'People' }).waitFor();
    await page.goForward();
    await page.getByRole('heading', { name: 'Audit log' }).waitFor();
  });
});

test('the settings and the audit log lead back to the environment that was shown last', async () => {
  const { page } = await console.visit(`/apps/${shop}/Staging/people`);
  await page.getByRole('heading', { name: 'People' }).waitFor();
  for (const path of ['/settings/team', `/settings/application?app=${shop}`, '/audit']) {
    await page.goto(console.origin + path);
    await page.getByRole('button', { name: 'Application: Shop' }).waitFor();
    await page.getByRole('button', { name: 'Environment: Staging' }).waitFor();
    const flags = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Flags' });
    expect(await flags.getAttribute('href'), path).toBe(`/apps/${shop}/Staging/flags`);
  }
});

describe('a parameter of the address without effect', () => {
  test.each([
    ['range=13x', 'range=13x in the address is ignored: it is not one of today, yesterday'],
    ['from=2026-02-01&to=yesterday', 'to=yesterday in the address is ignored: it is not a time'],
    ['rnage=30d', 'rnage=30d in the address is ignored: the page has no such parameter'],
  ])('%s is reported', async (query, message) => {
    const { page } = await console.visit(`/apps/${shop}/Production/metrics?${query}`);
    await page.getByRole('status').getByText(message).waitFor();
  });

  test('is told from those that other pages use', async () => {
    const { page } = await console.visit(`/apps/${shop}/Production/people?range=30d&compare=year&rnage=30d`);
    await page.getByText('rnage=30d in the address is ignored').waitFor();
    expect(await page.locator('.ignored p').count()).toBe(1);
  });

  test('is removed by a button, and the others stay', async () => {
    const { page } = await console.visit(`/apps/${shop}/Production/flags?range=30d&sort=colour&show=colour`);
    await page.getByText('show=colour in the address is ignored').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Remove show' }).click();
    await page.getByRole('button', { name: 'Remove sort' }).click();
    await page.locator('.ignored').waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('?range=30d');
  });
});

test.each([
  ['light', {}],
  ['dark', { viewport: { width: 320, height: 600 } }],
] as const)('the docs pass axe-core without scripts, in %s (%j)', async (colorScheme, screen) => {
  const { page } = await console.visit('/docs', { signedIn: false, colorScheme, ...screen });
  await page.locator('main').getByRole('link', { name: 'Semantics' }).click();
  await page.getByRole('heading', { name: 'Semantics', level: 1 }).waitFor();
  expect(await axeFaults(page)).toEqual([]);
  expect(await widthOf(page)).toBe(page.viewportSize()!.width);
});

test.each(['light', 'dark'] as const)(
  'axe-core finds nothing in the frame, with a menu open, in %s',
  async (colorScheme) => {
    const { page } = await console.visit(`/apps/${shop}/Production/nothing`, { colorScheme });
    await page.getByRole('heading').waitFor();
    await page.getByRole('button', { name: 'Environment: Production' }).click();
    await page.locator('.popover').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitemradio', { name: 'Dark' }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
  },
);

test.each([320, 640])('no text is cut off without a tooltip at %s px', async (width) => {
  const sender = await openSender(console, `A shop with quite a long name, ${width}`);
  const name = 'a-flag-whose-name-is-longer-than-the-narrowest-screen-is-wide';
  await sender.packet({ [name]: { 'a-variant-with-a-long-name': [3, 2, 1], off: [4, 1, 1] } });
  const { page } = await console.visit(`/apps/${sender.application}/Production/flags`, {
    viewport: { width, height: 700 },
  });
  await page.getByRole('link', { name }).waitFor();
  const here = `/apps/${sender.application}/Production`;
  for (const path of ['flags', `flag?name=${name}`, 'metrics', 'ingest', 'people', 'connect'].map(
    (each) => `${here}/${each}`,
  )) {
    await page.goto(console.origin + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
    expect(await cutTexts(page), path).toEqual([]);
    expect(await widthOf(page), path).toBe(width);
  }
});

test('fits the narrowest screen', async () => {
  const { page } = await console.visit(`/apps/${shop}/Production/nothing`, {
    viewport: { width: 320, height: 600 },
  });
  await page.getByRole('heading').waitFor();
  expect(await widthOf(page)).toBe(320);
});
