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
async function openFresh(name: string, query = '', options: Parameters<Console['visit']>[1] = {}) {
  await sender.packet({ [name]: { on: [3, 2, 1], off: [1] } });
  const visit = await console.visit(address(name, query), options);
  await visit.page.getByRole('heading', { level: 1, name }).waitFor();
  return visit;
}

const inSettings = '&tab=settings';

/** Selects an action of a flag in the menu of the head. */
async function act(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: /^(More a|A)ctions$/ }).click();
  await page.getByRole('menuitem', { name, exact: true }).click();
}

const chart = (page: Page) => page.getByRole('application', { name: 'Checks by variant' });

/** Returns the length of the fixed range in the address, in hours; `undefined` for a relative range. */
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
    expect(await page.title()).toMatch(/^checkout · Production · Shop/);
    await page.getByRole('tab', { name: 'Experiment' }).click();
    await page
      .getByText(/^(off|on) has 0 users on these days; .* at least 100\.$|whole UTC days; .* at least 7/)
      .waitFor();
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
    const { page } = await console.visit(address('checkout', '&range=24h&tab=traffic'));
    await page.locator('.chart-caption').getByText('off', { exact: true }).waitFor();
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
    const { page } = await console.visit(address('checkout', '&range=24h&tab=traffic'));
    await page.getByRole('radio', { name: 'Table' }).check();
    const rows = page.getByRole('region', { name: 'Table: Checks by variant' }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(24);
    await expect.poll(() => rows.nth(1).locator('td').allTextContents()).toContain('30');
    await page.getByRole('radio', { name: 'Used', exact: true }).first().check();
    await page.getByRole('button', { name: /^Export: Used by variant/ }).click();
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
    await act(page, 'Archive');
    await page.locator('.flag-head').getByText('archived').waitFor();
    await act(page, 'Unarchive');
    await page.locator('.flag-head').getByText('archived').waitFor({ state: 'detached' });
  });

  test.each([
    ['Discard my changes', 'Theirs'],
    ['Save my changes', 'Mine'],
  ])(
    'the choice "%s" keeps the description "%s" after another user has changed the description of a flag',
    async (choice, left) => {
      const name = `contested: ${left}`;
      const { page } = await openFresh(name, inSettings);
      const path = `/api/v2/applications/${sender.application}/features/${encodeURIComponent(name)}`;
      await page.getByRole('button', { name: 'Edit description' }).click();
      const description = page.getByRole('textbox', { name: 'Description' });
      await description.fill('Mine');
      await console.manage('PATCH', path, 200, { description: 'Theirs', archived: true });
      await page.getByRole('button', { name: /^Save description/ }).click();
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
      await description.waitFor({ state: 'detached' });
      await page.getByRole('region', { name: 'Description' }).getByText(left).waitFor();
    },
  );

  test('saving a flag keeps a setting that another user has changed', async () => {
    const { page } = await openFresh('shared', inSettings);
    const path = `/api/v2/applications/${sender.application}/features/shared`;
    await page.getByRole('button', { name: 'Edit description' }).click();
    await page.getByRole('textbox', { name: 'Description' }).fill('Mine');
    await console.manage('PATCH', path, 200, { permanent: true });
    await page.getByRole('button', { name: /^Save description/ }).click();
    await page.locator('.flag-description').getByText('Mine').waitFor();
    expect(await console.manage('GET', path, 200)).toMatchObject({ description: 'Mine', permanent: true });
  });

  test('one action keeps a flag until a date or for ever, and the settings tab ends the keeping', async () => {
    const { page } = await openFresh('to-keep');
    const dialog = page.getByRole('dialog', { name: 'Keep to-keep' });
    const save = async () => {
      await dialog.getByRole('button', { name: /^Save date/ }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    const saved = () => console.manage('GET', `/api/v2/applications/${sender.application}/features/to-keep`, 200);
    await act(page, 'Keep until …');
    await dialog.getByLabel('Keep until').fill('2099-01-31');
    await save();
    const until = expect.stringMatching(/^2099-01-31T/);
    await expect.poll(saved).toMatchObject({ permanent: false, snoozedUntil: until });
    await page.getByRole('heading', { name: /^Keep until .*2099/ }).waitFor();
    await act(page, 'Keep until …');
    await dialog.getByLabel('Keep for ever').check();
    await save();
    await expect.poll(saved).toMatchObject({ permanent: true, snoozedUntil: null });
    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByRole('region', { name: 'Keep until' }).getByText('for ever').waitFor();
    await page.getByRole('button', { name: 'Edit keep until' }).click();
    await page.getByRole('checkbox', { name: 'Keep for ever' }).uncheck();
    await page.getByRole('button', { name: 'Save date' }).click();
    await expect.poll(saved).toMatchObject({ permanent: false, snoozedUntil: null });
  });

  test('a button copies the name and the variants of a flag, and a command that finds the flag in the code', async () => {
    const { page } = await openFresh("it's");
    const copied = await watchCopies(page);
    await act(page, 'Copy for clean-up');
    await expect.poll(copied).toBe("Flag: it's\nVariants seen: off, on\nSearch: git grep -nF -e 'it'\\''s'\n");
  });

  test('the activity of a flag lists notes among other changes, and the chart shows notes as markers', async () => {
    const { page } = await openFresh('noted');
    const path = `/api/v2/applications/${sender.application}/features/noted`;
    await console.manage('PATCH', path, 200, { description: 'Winter' });
    await page.getByRole('button', { name: 'Add note' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add note' });
    await dialog.getByLabel('New note').fill('Rollout to everyone');
    await dialog.getByRole('button', { name: 'Add note' }).click();
    const remove = page.getByRole('button', { name: 'Delete note: Rollout to everyone' });
    await remove.waitFor();
    await dialog.waitFor({ state: 'detached' });
    const changes = page.getByRole('region', { name: 'Activity' }).getByRole('listitem');
    // The time at which a flag was first seen is cached, so it can appear later.
    expect((await changes.allInnerTexts()).slice(0, 2)).toEqual([
      expect.stringMatching(/^Rollout to everyone · .*@.* · /),
      expect.stringMatching(/^Declared: description Winter · /),
    ]);
    await page.getByText('Show as table').click();
    await page
      .getByRole('region', { name: /^Table/ })
      .getByText('Rollout to everyone')
      .waitFor();
    await remove.click();
    await remove.waitFor({ state: 'detached' });
    await expect.poll(() => changes.first().innerText()).toMatch(/^Note deleted · /);
  });

  test('the form of a flag keeps its input while the network is down', async () => {
    const { page, context } = await openFresh('offline', '', { expected: /ERR_INTERNET_DISCONNECTED/ });
    await page.getByRole('button', { name: 'Add note' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add note' });
    await dialog.getByLabel('New note').fill('Not to be lost');
    await context.setOffline(true);
    await dialog.getByRole('button', { name: 'Add note' }).click();
    await dialog
      .getByRole('alert')
      .getByText(/cannot be reached/)
      .waitFor();
    expect(await dialog.getByLabel('New note').inputValue()).toBe('Not to be lost');
    await context.setOffline(false);
    await dialog.getByRole('button', { name: 'Add note' }).click();
    await page.getByRole('button', { name: 'Delete note: Not to be lost' }).waitFor();
  });

  test('the form of a flag shows the refusal of a split next to the field, and saves a valid split', async () => {
    const { page } = await openFresh('split', inSettings);
    await page.getByRole('button', { name: 'Edit intended split' }).click();
    expect(await page.getByRole('button', { name: 'Edit owners' }).isDisabled()).toBe(true);
    const save = page.getByRole('button', { name: /^Save split/ });
    await page.getByLabel('Weight of off').fill('3');
    await page.getByLabel('Weight of on').fill('0');
    await save.click();
    await page.locator('.field', { hasText: 'Intended split' }).getByRole('alert').waitFor();
    expect(await page.getByLabel('Weight of off').inputValue()).toBe('3');
    await page.getByLabel('Weight of on').fill('1');
    await save.click();
    await page.locator('.flag-head').getByText('Plan: split off 75%, on 25%').waitFor();
    const path = `/api/v2/applications/${sender.application}/features/split`;
    expect(await console.manage('GET', path, 200)).toMatchObject({ split: { on: 1, off: 3 } });
  });

  test('a cancelled form of a flag changes nothing, and returns the focus to its button', async () => {
    const { page } = await openFresh('cancelled', inSettings);
    await page.getByRole('button', { name: 'Edit tags' }).click();
    await page.getByRole('textbox', { name: 'Tags' }).fill('ui');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('region', { name: 'Tags' }).getByText('None').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.ariaLabel')).toBe('Edit tags');
  });
});

describe('the page of a flag', () => {
  const selected = (page: Page) => page.getByRole('tab', { selected: true }).innerText();

  test('the tabs of a flag follow the arrow keys, the address and the history', async () => {
    const { page } = await console.visit(address('checkout'));
    const overview = page.getByRole('tab', { name: 'Overview' });
    await overview.focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForURL(/tab=traffic/);
    await page.getByRole('tabpanel', { name: 'Traffic' }).waitFor();
    await page.keyboard.press('End');
    await page.getByRole('tabpanel', { name: 'Settings' }).waitFor();
    expect(
      await page.getByRole('tab', { name: 'Settings' }).evaluate((tab) => tab === tab.ownerDocument.activeElement),
    ).toBe(true);
    await page.goBack();
    await expect.poll(() => selected(page)).toBe('Traffic');
    await page.reload();
    await expect.poll(() => selected(page)).toBe('Traffic');
  });

  test.each([
    ['&show=used', 'Traffic'],
    ['&event=viewed', 'Experiment'],
    ['', 'Overview'],
  ])('an address with "%s" and without a tab opens the tab %s', async (query, tab) => {
    const { page } = await console.visit(address('checkout', query));
    await expect.poll(() => selected(page)).toBe(tab);
    expect(await page.getByText('the page has no such parameter').count()).toBe(0);
  });

  test('the page of a flag passes axe-core in light and dark mode', async () => {
    const { page } = await console.visit(address('checkout'));
    await page.getByRole('region', { name: /^From checks/ }).waitFor();
    await page.getByText('Show as table').click();
    expect(await schemeFaults(page)).toEqual([]);
    for (const tab of ['Traffic', 'Experiment', 'Senders', 'Settings']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('tabpanel', { name: tab }).waitFor();
      expect(await schemeFaults(page), tab).toEqual([]);
    }
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
