import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { cleanUp, freshDirectory } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { runBinary } from '../support/run-binary.ts';
import { axeFaults } from './support/axe.ts';
import { type Console, openConsole, openSender, type Sender } from './support/console.ts';

const { describe, test } = needing('chromium-headless-shell');

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

let console: Console;
let shop: Sender;
let repository: string;

beforeAll(async () => {
  console = await openConsole();
  shop = await openSender(console, 'Shop');
  const used = { on: [60], off: [40] };
  await shop.report(daysAgo(50), { forever: { on: [10] }, legacy: { on: [10] }, checkout: used });
  await shop.report(daysAgo(0), { forever: { on: [10] }, legacy: { on: [10] }, checkout: used });
  for (const name of ['forever', 'legacy', 'checkout'])
    await console.manage('POST', `/api/v2/applications/${shop.application}/features`, 201, { name });
  await console.manage('PUT', `/api/v2/applications/${shop.application}/code-scans/shop%2Fweb`, 200, {
    files: 1,
    features: [{ name: 'legacy', count: 1, references: [] }],
  });
  repository = freshDirectory();
  for (const folder of ['.git', '.github', 'src']) mkdirSync(join(repository, folder), { recursive: true });
  writeFileSync(join(repository, '.github/CODEOWNERS'), '* @shop/all\n/src/*.ts @shop/web\n');
  writeFileSync(join(repository, 'src/app.ts'), "\nif (isEnabled('forever')) start();\n");
});

afterAll(async () => {
  await console?.close();
  cleanUp();
});

/** Runs a command with an API key that has the given scope. */
async function asKey(scope: 'read' | 'write', ...args: readonly string[]) {
  const { credentials } = console;
  const key = (await console.manage('POST', `/api/v2/teams/${credentials.teamId}/api-keys`, 201, {
    name: `CI ${scope}`,
    scopes: [scope],
  })) as { clientId: string; clientSecret: string };
  return runBinary(['features', ...args, '--app', shop.application], {
    FLAGMETER_URL: console.origin,
    FLAGMETER_CLIENT_ID: key.clientId,
    FLAGMETER_CLIENT_SECRET: key.clientSecret,
  });
}

const upload = () => [
  ...['scan', repository, '--upload', '--repository', 'shop/web', '--revision', '9fceb02'],
  ...['--link', 'https://git.example/shop/blob/{revision}/{path}#L{line}'],
];
const featureAddress = (name: string) => `/apps/${shop.application}/Production/flag?name=${name}`;
const item = (page: Page, name: string) => page.getByRole('article', { name });

describe('a code scan', () => {
  test('a code scan requires an API key with the scope write', async () => {
    const { code, stderr } = await asKey('read', ...upload());
    expect([code, stderr]).toEqual([expect.any(Number), expect.stringContaining('scope write')]);
    expect(code).not.toBe(0);
  });

  test('a code scan adds the owners in CODEOWNERS and the places in the code to the page of a flag', async () => {
    const { code, stderr } = await asKey('write', ...upload());
    expect([code, stderr]).toEqual([0, expect.stringContaining('Uploaded the places of 1 features in shop/web')]);
    const { page } = await console.visit(`${featureAddress('forever')}&tab=senders`);
    const link = page.getByRole('link', { name: 'src/app.ts:2' });
    expect(await link.getAttribute('href')).toBe('https://git.example/shop/blob/9fceb02/src/app.ts#L2');
    await page.getByText('Owner: @shop/web').waitFor();
    await page.goto(`${console.origin}${featureAddress('legacy')}&tab=senders`);
    await page.getByText(/Not found in the code since the scan of/).waitFor();
  });

  test('the results of a code scan are in the clean-up list on the command line', async () => {
    const { code, stdout, stderr } = await asKey('read', 'cleanup', '--markdown');
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^Cannot be removed yet: \d/)]);
    expect(stdout).toMatch(/^# Remove 2 flags\n\n- \[ \] `forever`/);
    expect(stdout).toContain('[`src/app.ts:2`](https://git.example/shop/blob/9fceb02/src/app.ts#L2)');
    const json = JSON.parse((await asKey('read', 'cleanup', '--json')).stdout);
    expect(json.items.map(({ next }: { next: string }) => next)).toEqual(['keep_variant', 'archive']);
  });
});

describe('the owners of a flag', () => {
  test('the page of a flag changes its owners, and the search finds the new owner', async () => {
    const { page } = await console.visit(`${featureAddress('checkout')}&tab=settings`);
    // The form appears when the members are known, because an owner saved earlier would be a text.
    let release = () => {};
    const edited = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/members?*', async (route) => {
      await edited;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Edit owners' }).click();
    await page.getByRole('region', { name: 'Owners' }).getByText('Loading …').waitFor();
    release();
    await page.getByRole('textbox', { name: 'Owners' }).fill(`${console.credentials.adminEmail}, @shop/checkout`);
    await page.getByRole('button', { name: 'Save owners' }).click();
    await page.getByText(/^Owner: .+, @shop\/checkout/).waitFor();
    await page.getByRole('button', { name: 'Edit tags' }).click();
    await page.getByRole('textbox', { name: 'Tags' }).fill('Q4, ui');
    await page.getByRole('button', { name: 'Save tags' }).click();
    await page.getByRole('region', { name: 'Tags' }).getByText('Q4').waitFor();
    const { owners } = (await console.manage(
      'GET',
      `/api/v2/applications/${shop.application}/features/checkout`,
      200,
    )) as { owners: { type: string }[] };
    expect(owners.map(({ type }) => type)).toEqual(['user', 'text']);
    await page.goto(`${console.origin}/apps/${shop.application}/Production/flags?search=owner:me`);
    await expect.poll(() => page.getByRole('grid').getByRole('rowheader').allInnerTexts()).toEqual(['checkout']);
    await page.getByLabel('Search flags').fill('tag:q4 owner:"@shop/checkout"');
    await expect.poll(() => page.getByRole('grid').getByRole('rowheader').allInnerTexts()).toEqual(['checkout']);
  });
});

describe('the clean-up page', () => {
  test.each(['light', 'dark'] as const)('the clean-up page passes axe-core in %s mode', async (colorScheme) => {
    const viewport = colorScheme === 'dark' ? { width: 390, height: 800 } : { width: 1280, height: 900 };
    const { page } = await console.visit(`/apps/${shop.application}/Production/cleanup`, { colorScheme, viewport });
    const heading = page.getByRole('heading', { name: '2 flags can be removed' });
    await heading.waitFor();
    await page.goto(`${console.origin}/apps/${shop.application}/Production/flags`);
    await page.getByRole('link', { name: '2 flags can be removed' }).click();
    await heading.waitFor();
    await page.getByText('Pull-request text').first().click();
    await page.getByRole('region', { name: 'Remove the flag forever, keep on' }).waitFor();
    const folder = process.env['SCREENSHOTS'];
    if (folder !== undefined) await page.screenshot({ path: `${folder}/cleanup-${colorScheme}.png`, fullPage: true });
    expect(await axeFaults(page)).toEqual([]);
    const width = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    expect(width).toBeLessThanOrEqual(0);
  });

  test('the clean-up page groups flags by owner, with evidence, one pull-request text and the number of removable flags', async () => {
    const { page } = await console.visit(`/apps/${shop.application}?page=cleanup`);
    const forever = item(page, 'forever');
    await forever.getByText(/^Remove: one variant only since/).waitFor();
    await forever.getByText(/Only the variant on has been served/).waitFor();
    await forever.getByText('Keep the branch of the variant').first().waitFor();
    await item(page, 'legacy').getByText('The code no longer names the flag').first().waitFor();
    await page.getByRole('heading', { name: 'No owner 1 flag' }).waitFor();
    const group = page.getByRole('region', { name: '@shop/web' });
    await group.getByRole('heading', { name: '@shop/web 1 flag' }).waitFor();
    await group.getByText('Pull-request text').click();
    await group.getByRole('region', { name: 'Remove the flag forever, keep on' }).getByText('Removes').waitFor();
    await page.getByRole('region', { name: 'Removable flags over time' }).getByText('Show as table').click();
    await page.getByRole('cell', { name: '2', exact: true }).first().waitFor();
    for (const [name, file] of [
      ['CSV', 'clean-up.csv'],
      ['Markdown', 'clean-up.md'],
    ] as const) {
      await page.getByRole('button', { name: 'Export: Clean-up' }).click();
      const downloading = page.waitForEvent('download');
      await page.getByRole('menuitem', { name }).click();
      expect((await downloading).suggestedFilename()).toBe(file);
    }
  });
});
