import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { schemeFaults } from './support/axe.ts';
import { readContent } from './support/chromium.ts';
import { watchCopies } from './support/clipboard.ts';
import { type Console, openConsole, openSender, type Sender } from './support/console.ts';
import { readWidth } from './support/looks.ts';

const { describe, test } = needing('chromium-headless-shell');

const hourMs = 3_600_000;

let console: Console;
let sender: Sender;

beforeAll(async () => {
  console = await openConsole();
  sender = await openSender(console, 'Shop', { acceptClientIdentities: true });
  const now = Date.now();
  for (let hour = 1; hour <= 30; hour++)
    await sender.report(new Date(now - hour * hourMs), {
      checkout: { on: [40 + hour, 20, 10], off: [30, 5, 1] },
      chekout: { on: [1] },
      '..': { on: [7] },
    });
  await sender.packet({ checkout: { on: [2, 1] } }, 'Production', 'ada');
});

afterAll(async () => {
  await console?.close();
  cleanUp();
});

const address = (name: string, query = '') =>
  `/apps/${sender.application}/Production/flag?name=${encodeURIComponent(name)}${query}`;

/** Opens a new flag, which no other test changes. */
async function openFresh(name: string, options: Parameters<Console['visit']>[1] = {}) {
  await sender.packet({ [name]: { on: [3, 2, 1], off: [1] } });
  const visit = await console.visit(address(name), options);
  await visit.page.getByRole('heading', { level: 1, name }).waitFor();
  return visit;
}

/** Clicks the button that saves the description and the split. */
const saveSettings = (page: Page) =>
  page.getByRole('region', { name: 'Description and split' }).getByRole('button', { name: /^Save/ }).click();

const chart = (page: Page) => page.getByRole('application', { name: 'Checks by variant' });

/** Returns the length of the fixed range in the address, hours; `undefined` for a relative range. */
function zoomedHours(page: Page): number | undefined {
  const { searchParams } = new URL(page.url());
  const from = searchParams.get('from');
  const to = searchParams.get('to');
  return from === null || to === null ? undefined : (Date.parse(to) - Date.parse(from)) / hourMs;
}

describe('a flag', () => {
  test('the page of a flag shows the counts by variant', async () => {
    const { page } = await console.visit(address('checkout'));
    const table = page.getByRole('region', { name: 'From checks to uses and views, by variant' });
    const rows = table.locator('tbody tr');
    await rows.nth(1).waitFor();
    const on = 30 * 40 + (30 * 31) / 2 + 2;
    expect((await rows.nth(0).innerText()).split(/\s+/)).toEqual(['off', '900', '150', '17%', '30', '3.3%', '0']);
    expect((await rows.nth(1).innerText()).split(/\s+/)).toEqual([
      'on',
      on.toLocaleString('en-GB'),
      '601',
      '36%',
      '300',
      '18%',
      '1',
    ]);
    await page
      .getByText(/^(off|on) has 0 users on these days; .* at least 100\.$|whole UTC days; .* at least 7/)
      .waitFor();
    expect(await page.title()).toMatch(/^checkout · Production · Shop/);
  });

  test('dragging in the chart of a flag zooms in, and a button zooms out', async () => {
    const { page } = await console.visit(address('checkout'));
    await page.getByRole('region', { name: /^From checks/ }).waitFor();
    await page.locator('.u-over').hover();
    const box = (await page.locator('.u-over').boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.5, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, box.y + 60, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => zoomedHours(page)).toBeGreaterThan(38);
    expect(zoomedHours(page)).toBeLessThan(46);
    await page.getByRole('button', { name: 'Back to 7 days' }).click();
    await expect.poll(() => zoomedHours(page)).toBeUndefined();
  });

  test('the keyboard zooms in the chart of a flag, and the bucket at the cursor is announced', async () => {
    const { page } = await console.visit(address('checkout', '&range=24h'));
    await page.getByRole('region', { name: /^From checks/ }).waitFor();
    await chart(page).focus();
    await page.keyboard.press('End');
    const said = page.locator('.chart [aria-live]');
    await expect.poll(() => said.textContent()).toMatch(/, so far: off \d+, on \d+/);
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => said.textContent()).toMatch(/\d: off 30, on 4\d/);
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('Shift+ArrowLeft');
    await expect.poll(() => said.textContent()).toMatch(/^Selected .* Enter zooms in, Escape clears\.$/);
    await page.keyboard.press('Enter');
    await expect.poll(() => zoomedHours(page)).toBe(3);
  });

  test('the chart of a flag offers a table of its figures and a CSV file', async () => {
    const { page } = await console.visit(address('checkout', '&range=24h'));
    await page.getByRole('radio', { name: 'Table' }).check();
    const rows = page.getByRole('region', { name: 'Table: Checks by variant' }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(24);
    await expect.poll(() => rows.nth(1).locator('td').allTextContents()).toContain('30');
    await page.getByRole('radio', { name: 'Used', exact: true }).first().check();
    await page.getByRole('button', { name: /^Download: Used by variant/ }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'CSV' }).click(),
    ]);
    const csv = (await readContent(download)).toString();
    expect(csv).toMatch(/^\ufeffTime,off,on,What happened\r\n/);
    expect(csv.match(/Z,5,20,/g)!.length).toBeGreaterThanOrEqual(22);
  });

  test('the page of a flag shows its figures even if a path cannot contain the name of the flag', async () => {
    const { page } = await console.visit(address('..'));
    await page.getByRole('heading', { level: 1, name: '..' }).waitFor();
    await page
      .getByRole('region', { name: /^From checks/ })
      .getByText('210')
      .waitFor();
  });

  test('the page of a flag that was never seen links to other flags, and can declare the flag', async () => {
    const { page } = await console.visit(address('nothing-yet'));
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    const back = page.locator('main').getByRole('link', { name: 'All flags' });
    expect(await back.getAttribute('href')).toBe(`/apps/${sender.application}/Production/flags`);
    await page.getByRole('button', { name: 'Declare flag' }).click();
    await page.getByRole('heading', { level: 1, name: 'nothing-yet' }).waitFor();
    await page.getByText('The flag has not been seen in any environment yet.').waitFor();
  });
});

describe('actions on a flag', () => {
  test('the buttons on the page of a flag archive and unarchive the flag', async () => {
    const { page } = await openFresh('to-archive');
    await page.getByRole('button', { name: 'Archive' }).click();
    await page.locator('.flag-head').getByText('archived').waitFor();
    await page.getByRole('button', { name: 'Unarchive' }).click();
    await page.locator('.flag-head').getByText('archived').waitFor({ state: 'detached' });
  });

  test.each([
    ['Discard my changes', 'Theirs'],
    ['Save my changes', 'Mine'],
  ])('the choice "%s" saves %s if someone else has changed the description of a flag', async (choice, left) => {
    const name = `contested: ${left}`;
    const { page } = await openFresh(name);
    const path = `/api/v2/applications/${sender.application}/features/${encodeURIComponent(name)}`;
    const description = page.getByLabel('Description', { exact: true });
    await description.fill('Mine');
    await console.manage('PATCH', path, 200, { description: 'Theirs', archived: true });
    await saveSettings(page);
    const dialog = page.getByRole('dialog', { name: 'Someone else changed this while you edited it' });
    await dialog.waitFor();
    expect((await dialog.getByRole('row').allInnerTexts()).slice(1)).toEqual([
      'Description\tdefault\tTheirs\tMine',
      'Archived\toff\ton\tunchanged',
    ]);
    await dialog.getByRole('button', { name: choice }).click();
    await dialog.waitFor({ state: 'detached' });
    const saved = () => console.manage('GET', path, 200);
    await expect.poll(saved).toMatchObject({ description: left, archived: true });
    await expect.poll(() => description.inputValue()).toBe(left);
  });

  test('saving a flag keeps a setting that someone else has changed', async () => {
    const { page } = await openFresh('shared');
    const path = `/api/v2/applications/${sender.application}/features/shared`;
    await page.getByLabel('Description', { exact: true }).fill('Mine');
    await console.manage('PATCH', path, 200, { permanent: true });
    await saveSettings(page);
    await page.locator('.flag-description').getByText('Mine').waitFor();
    expect(await console.manage('GET', path, 200)).toMatchObject({ description: 'Mine', permanent: true });
  });

  test.each([
    ['Snooze for 30 days', 'End snooze'],
    ['Mark as permanent', 'Mark as temporary'],
  ])('the action "%s" on a flag can be undone with "%s"', async (action, undo) => {
    const { page } = await openFresh(`to-${action.toLowerCase()}`);
    await page.getByRole('button', { name: action, exact: true }).click();
    await page.getByRole('button', { name: undo }).click();
    await page.getByRole('button', { name: undo }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: action, exact: true }).waitFor();
  });

  test('a button copies the name and the variants of a flag, and a command that finds the flag in the code', async () => {
    const { page } = await openFresh("it's");
    const copied = await watchCopies(page);
    await page.getByRole('button', { name: 'Copy for cleanup' }).click();
    await page.locator('.copy-text', { hasText: 'Copied' }).waitFor();
    expect(await copied()).toBe("Flag: it's\nVariants seen: off, on\nSearch: git grep -nF -e 'it'\\''s'\n");
  });

  test('the chart of a flag shows its notes as markers', async () => {
    const { page } = await openFresh('noted');
    await page.getByLabel('New note').fill('Rollout to everyone');
    await page.getByRole('button', { name: 'Add note' }).click();
    const remove = page.getByRole('button', { name: 'Delete note: Rollout to everyone' });
    await remove.waitFor();
    await expect.poll(() => page.getByLabel('New note').inputValue()).toBe('');
    await page.getByText('Show as table').click();
    await page
      .getByRole('region', { name: /^Table/ })
      .getByText('Rollout to everyone')
      .waitFor();
    await remove.click();
    await remove.waitFor({ state: 'detached' });
  });

  test('the form of a flag keeps its input while the network is down', async () => {
    const { page, context } = await openFresh('offline', { expected: /ERR_INTERNET_DISCONNECTED/ });
    await page.getByLabel('New note').fill('Not to be lost');
    await context.setOffline(true);
    await page.getByRole('button', { name: 'Add note' }).click();
    await page
      .getByRole('alert')
      .getByText(/cannot be reached/)
      .waitFor();
    expect(await page.getByLabel('New note').inputValue()).toBe('Not to be lost');
    await context.setOffline(false);
    await page.getByRole('button', { name: 'Add note' }).click();
    await page.getByRole('button', { name: 'Delete note: Not to be lost' }).waitFor();
  });

  test('the form of a flag shows the refusal of a split next to the field, and saves a valid split', async () => {
    const { page } = await openFresh('split');
    const settings = page.getByRole('region', { name: 'Description and split' });
    const save = settings.getByRole('button', { name: /^Save/ });
    await page.getByRole('textbox', { name: 'Description' }).fill('Half and half');
    await page.getByLabel('Weight of on').fill('0');
    await save.click();
    const fault = page.locator('.field', { hasText: 'Intended split' }).getByRole('alert');
    await fault.waitFor();
    expect(await page.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('Half and half');
    await page.getByLabel('Weight of on').fill('1');
    await page.getByLabel('Weight of off').fill('3');
    await save.click();
    await page.locator('.flag-head').getByText('Half and half').waitFor();
    const path = `/api/v2/applications/${sender.application}/features/split`;
    expect(await console.manage('GET', path, 200)).toMatchObject({ split: { on: 1, off: 3 } });
    await page.reload();
    await expect.poll(() => page.getByLabel('Weight of off').inputValue()).toBe('3');
  });
});

describe('the page of a flag', () => {
  test('the page of a flag passes axe-core in light and dark mode', async () => {
    const { page } = await console.visit(address('checkout'));
    await page.getByRole('region', { name: /^From checks/ }).waitFor();
    await page.getByText('Show as table').click();
    expect(await schemeFaults(page)).toEqual([]);
  });

  test('the page of a flag fits the screen of a phone', async () => {
    const { page } = await console.visit(address('checkout'), { viewport: { width: 390, height: 844 } });
    await page.getByRole('region', { name: /^From checks/ }).waitFor();
    expect(await readWidth(page)).toBe(390);
  });

  test('the chart of a flag is redrawn in the colours of another theme', async () => {
    const { page } = await console.visit(address('checkout'), { colorScheme: 'light' });
    await page.getByRole('region', { name: /^From checks/ }).waitFor();
    const picture = () => page.evaluate("document.querySelector('.uplot canvas').toDataURL()");
    const light = await picture();
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(picture).not.toBe(light);
  });
});
