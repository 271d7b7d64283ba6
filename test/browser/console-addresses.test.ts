import { afterAll, beforeAll, expect } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { axeFaults } from './support/axe.ts';
import { type Console, openConsole, openSender } from './support/console.ts';

const { describe, test } = needing('chromium-headless-shell');

let console: Console;
let shop: string;

beforeAll(async () => {
  console = await openConsole();
  const sender = await openSender(console, 'Shop');
  await sender.packet({ checkout: { on: [1] } });
  shop = sender.application;
});

afterAll(async () => {
  await console?.close();
  cleanUp();
});

test('the page "Not found" at an unknown address links to the start page', async () => {
  const { page } = await console.visit('/audit');
  const unknown = [
    ['/apps/app_0/Production/flags', 'All applications'],
    [`/apps/${shop}/Nowhere/flags`, 'Staging'],
    [`/apps/${shop}/Production/nothing`, 'All applications'],
    ['/apps/%25E0/x/flags', 'All applications'],
  ] as const;
  for (const [path, way] of unknown) {
    await page.goto(console.origin + path);
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    await expect.poll(() => page.title()).toMatch(/^Not found · /);
    await page.locator('main').getByRole('link', { name: way }).click();
    await page.waitForURL(way === 'Staging' ? /\/Staging\/flags$/ : `${console.origin}/`);
  }
});

describe('a page', () => {
  test('a page loads its own scripts with the document, and the scripts of other pages afterwards', async () => {
    const { page, context } = await console.visit('/audit', { expected: /net::ERR_/ });
    const paths = [`/apps/${shop}/Production/flags`, '/settings'].map(async (path) => {
      const document = await (await page.request.get(console.origin + path)).text();
      return Array.from(document.matchAll(/rel="modulepreload" href="([^"]+)"/g), ([, name]) => name!);
    });
    const hinted = (await Promise.all(paths)).flat();
    expect(hinted.some((path) => path.includes('/overview-'))).toBe(true);
    const loaded = () =>
      page.evaluate(`performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)`);
    await expect.poll(loaded).toEqual(expect.arrayContaining(hinted));
    await context.setOffline(true);
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Settings' }).click();
    await page.getByRole('navigation', { name: 'Settings' }).waitFor();
  });

  test('a page whose scripts cannot be loaded shows a message, and loads when the reader returns to it', async () => {
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

test('a query parameter without effect is reported, and a button removes the parameter', async () => {
  const place = `/apps/${shop}/Production`;
  const { page, tab } = await console.visit(`${place}/flags?range=30d&sort=colour&show=colour`);
  const [people, metrics, fixed] = await Promise.all([
    tab(`${place}/people?range=30d&compare=year&rnage=30d`),
    tab(`${place}/metrics?range=13x`),
    tab(`${place}/metrics?from=2026-02-01&to=yesterday`),
  ]);
  await metrics.getByText('range=13x in the address is ignored: it is not one of today, yesterday').waitFor();
  await fixed.getByText('to=yesterday in the address is ignored: it is not a time').waitFor();
  const ignored = people.getByRole('status').filter({ hasText: 'in the address is ignored' });
  await ignored.getByText('rnage=30d in the address is ignored: the page has no such parameter').waitFor();
  expect(await ignored.locator('p').count()).toBe(1);
  await page.getByText('show=colour in the address is ignored').waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Remove show' }).click();
  await page.getByRole('button', { name: 'Remove sort' }).click();
  await page.locator('.ignored').waitFor({ state: 'detached' });
  expect(new URL(page.url()).search).toBe('?range=30d');
});
