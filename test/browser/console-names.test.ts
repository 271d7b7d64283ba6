import { afterAll, beforeAll, expect } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { type Console, openConsole, openSender } from './support/console.ts';

const { test } = needing('chromium-headless-shell');

let console: Console;

beforeAll(async () => {
  console = await openConsole();
});

afterAll(async () => {
  await console?.close();
  cleanUp();
});

/** Contains a right-to-left override. Unless the text is isolated, `\u202egnp.exe` is shown as `exe.png`. */
const name = 'refund\u202etuokcehc';
const shown = 'refund\ufffdtuokcehc';

test('the console shows characters that change the direction of text as replacement characters', async () => {
  const sender = await openSender(console, 'Shop');
  await sender.packet({ [name]: { [`on${name}`]: [3, 2, 1] } });
  const { page } = await console.visit(`/apps/${sender.application}/Production/flags`);
  await page.getByRole('link', { name: shown }).first().waitFor();
  expect(await page.locator('body').innerText()).not.toContain('\u202e');
  await page.getByRole('link', { name: shown }).first().click();
  await page.getByRole('heading', { name: shown }).waitFor();
  expect(await page.locator('body').innerText()).not.toContain('\u202e');
  expect(await page.title()).toContain(shown);
});
