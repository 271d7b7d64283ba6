import { afterAll, beforeAll, expect } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { type Console, openConsole, openSender, type Sender } from './support/console.ts';

const { test } = needing('chromium-headless-shell');

let console_: Console;
let shop: Sender;
beforeAll(async () => {
  console_ = await openConsole();
  shop = await openSender(console_);
});
afterAll(async () => {
  await console_?.close();
  cleanUp();
});

const address = (query: string) => `/apps/${shop.application}/Production/flags${query}`;

test('the range dialog refuses a range whose end is before its start', async () => {
  const { page } = await console_.visit(address('?range=1h'));
  await page.getByRole('button', { name: 'Range: 1 hour' }).click();
  await page.getByText('From … to …').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('From', { exact: true }).fill('2026-02-02T10:00');
  await dialog.getByLabel('To', { exact: true }).fill('2026-02-01T10:00');
  await dialog.getByRole('button', { name: 'Show' }).click();
  await dialog.getByRole('alert').getByText('The start must be before the end').waitFor();
  expect(await dialog.getByText('Range changed').count()).toBe(0);
  expect(page.url()).toMatch(/\?range=1h$/);
});

test('the overview shows why the server refuses a range, and does not retry', async () => {
  await shop.packet({ checkout: { on: [1] } });
  const ancient = '?range=1h&from=1000-01-01T00:00:00Z&to=2026-01-01T00:00:00Z';
  const { page } = await console_.visit(address(ancient));
  await page.getByText('from must not be before 1970-01-01T00:00:00Z').waitFor();
  await page.getByText('Choose another range or another page.').waitFor();
  await page.getByRole('button', { name: 'Back to 1 hour' }).click();
  await page
    .getByRole('button', { name: /^Checks/ })
    .first()
    .waitFor();
});

const inBerlin = { timezoneId: 'Europe/Berlin', locale: 'en-GB' };

test("calendar ranges consist of days in the reader's time zone, and are compared with the preceding period", async () => {
  await shop.packet({ checkout: { on: [1] } });
  const { page } = await console_.visit(address('?range=1h'), inBerlin);
  const asked = page.waitForRequest(/overview\?.*compare=week/);
  await page.getByRole('button', { name: 'Range: 1 hour' }).click();
  await page.getByRole('menuitemradio', { name: 'This week' }).click();
  const { searchParams } = new URL((await asked).url());
  expect(searchParams.get('timeZone')).toBe('Europe/Berlin');
  const from = new Date(searchParams.get('from')!);
  const there = new Intl.DateTimeFormat('en-GB', {
    timeZone: 'Europe/Berlin',
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
  });
  expect(there.format(from)).toMatch(/^Mon.*00:00$/);
  await page.getByRole('button', { name: /^Range: This week, / }).waitFor();
  expect(page.url()).toMatch(/\?range=this-week$/);
  await page.getByRole('button', { name: /^Range: This week, / }).click();
  const without = page.waitForRequest(/compare=none/);
  await page.getByRole('menuitemradio', { name: 'No comparison' }).click();
  await without;
  expect(page.url()).toMatch(/range=this-week&compare=none$/);
});

test('the range dialog selects a day in the time zone of the reader, with the mouse or the keyboard', async () => {
  const { page } = await console_.visit(address('?range=1h'), inBerlin);
  const picker = page.getByRole('button', { name: 'Range: 1 hour' });
  await picker.focus();
  await page.keyboard.press('Enter');
  const focused = () => page.evaluate('document.activeElement.textContent');
  await expect.poll(focused).toBe('1 hour');
  await page.keyboard.press('D');
  await expect.poll(focused).toBe('Days …');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Days' });
  await dialog.getByLabel('Day', { exact: true }).fill('2026-02-02');
  await dialog.getByLabel('Last day (optional)').fill('2026-02-01');
  await dialog.getByRole('button', { name: 'Show' }).click();
  await dialog.getByRole('alert').getByText('The last day must not be before the first').waitFor();
  await dialog.getByLabel('Last day (optional)').fill('');
  await dialog
    .getByLabel('Day', { exact: true })
    .fill(new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10));
  const asked = page.waitForRequest(/overview\?.*timeZone=Europe/);
  await dialog.getByRole('button', { name: 'Show' }).click();
  expect(new URL((await asked).url()).searchParams.get('from')).toMatch(/T2[23]:00:00.000Z$/);
  expect(page.url()).toMatch(/\?range=\d{4}-\d\d-\d\d$/);
});

test('a time zone is chosen for one page or for the user, and the focus returns when its dialog closes', async () => {
  const { page } = await console_.visit(address('?range=today&tz=America/New_York'), inBerlin);
  const opener = page.getByRole('button', { name: /^Range: Today.* America\/New_York$/ });
  const dialog = page.getByRole('dialog', { name: 'Time zone' });
  const open = async () => {
    await opener.click();
    await page.getByRole('menuitem', { name: 'Time zone …' }).click();
  };
  await open();
  await dialog.getByLabel('Time zone').press('Escape');
  await expect.poll(() => opener.evaluate((button) => button.matches(':focus'))).toBe(true);
  await open();
  await dialog.getByLabel('Time zone').fill('Europe/Atlantis');
  await dialog.getByRole('button', { name: 'Use' }).click();
  await dialog.getByText('"Europe/Atlantis" is not a time zone').waitFor();
  await dialog.getByLabel('Time zone').fill('Asia/Tokyo');
  await dialog.getByRole('button', { name: 'Use' }).click();
  await page.getByRole('button', { name: / Asia\/Tokyo$/ }).waitFor();
  await expect.poll(() => page.url()).toMatch(/\?range=today$/);
  await page.reload();
  await page.getByRole('button', { name: / Asia\/Tokyo$/ }).waitFor();
  await page.goto(`${console_.origin}/settings/you`);
  const form = page.locator('form', { has: page.getByLabel('Time zone') });
  expect(await form.getByLabel('Time zone').inputValue()).toBe('Asia/Tokyo');
  await form.getByLabel('Time zone').fill('');
  await form.getByRole('button', { name: 'Save time zone' }).click();
  await page.getByText('Time zone saved').waitFor({ state: 'attached' });
  await page.goto(`${console_.origin}${address('?range=today')}`);
  await page.getByRole('button', { name: / Europe\/Berlin$/ }).waitFor();
});

test('the overview uses UTC days if days of the time zone begin within a UTC hour, and explains this', async () => {
  const { page } = await console_.visit(address('?range=30d&tz=Asia/Kolkata'), inBerlin);
  await page.getByText('Days are UTC days: days of this time zone').waitFor();
});
