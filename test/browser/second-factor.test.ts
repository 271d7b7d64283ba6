import { TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { schemeFaults } from './support/axe.ts';
import { type Console, openConsole, signInFirst } from './support/console.ts';

const { describe, test } = needing('chromium-headless-shell');

let shop: Console;

beforeAll(async () => {
  shop = await openConsole();
});

afterAll(async () => {
  await shop?.close();
  cleanUp();
});

/** Generates the authenticator app's code for a later time. @param steps number of time steps from now */
function generateCode(secret: string, steps = 0): string {
  return TOTP.generate({ secret: new TOTP({ secret }).secret, timestamp: Date.now() + steps * 30_000 });
}

/** Signs out in the browser, and signs in again as far as the second factor. */
async function enter(page: Page, email: string, password: string): Promise<void> {
  await page.context().clearCookies();
  await page.goto(`${shop.origin}/settings/you`);
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

const continueWith = async (page: Page, code: string) => {
  await page.getByLabel(/^(Code|Recovery code)$/).fill(code);
  await page.getByRole('button', { name: 'Continue' }).click();
};

/** Checks the page with axe-core in both themes. */
async function expectAccessible(page: Page): Promise<void> {
  expect(await schemeFaults(page)).toEqual([]);
}

describe('two-step verification', () => {
  test('a user sets up an authenticator app, and signs in with a code of the app and with a recovery code', async () => {
    const email = 'grace@example.com';
    const first = 'chosen by somebody else';
    const password = 'a long phrase of their own';
    const user = { name: 'Grace', email, role: 'User', password: first };
    await shop.manage('POST', '/api/v2/users', 201, user);
    const { page } = await shop.visit('/settings/you', { signedIn: false });
    await signInFirst(page, email, first, password);
    await page.getByRole('link', { name: 'Set up authenticator app' }).click();
    await page.getByRole('img', { name: 'QR code of the key' }).waitFor();
    await expectAccessible(page);
    const secret = (await page.locator('main code').innerText()).replaceAll(' ', '');
    await continueWith(page, '000000');
    await page.getByRole('alert').getByText('The code is wrong').waitFor();
    await continueWith(page, generateCode(secret));
    await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor();
    await expectAccessible(page);
    const codes = await page.locator('li code').allInnerTexts();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download the codes' }).click();
    expect((await download).suggestedFilename()).toBe('flagmeter-recovery-codes.txt');
    await page.getByRole('button', { name: 'I have saved the codes' }).click();
    await page.getByText('Recovery codes left: 10').waitFor();

    await enter(page, email, password);
    await page.getByRole('heading', { name: 'Two-step verification' }).waitFor();
    await expectAccessible(page);
    await continueWith(page, generateCode(secret, 1));
    await page.getByRole('heading', { name: 'You', exact: true }).waitFor();

    await enter(page, email, password);
    await page.getByRole('button', { name: 'Use a recovery code' }).click();
    await page.getByRole('heading', { name: 'Use a recovery code' }).waitFor();
    await expectAccessible(page);
    await continueWith(page, codes[4]!);
    await page.getByText('Recovery codes left: 9').waitFor();
    await page.getByRole('cell', { name: 'password, recovery-code' }).waitFor();
    await page
      .getByRole('cell', { name: /^Chrome \d+ on Linux$/ })
      .first()
      .waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Remove authenticator app' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove authenticator app' }).click();
    await page.getByText('No authenticator app is set up').waitFor();
  });

  test('an administrator changes the policy for second factors, and sees which factors a user has', async () => {
    const { page } = await shop.visit('/settings/sign-in');
    const rule = page.getByLabel('Who needs a second factor');
    await rule.selectOption('admins');
    await page.getByRole('button', { name: 'Save policy' }).click();
    await page.locator('.form-done').waitFor();
    await expectAccessible(page);
    await rule.selectOption('optional');
    await page.getByRole('button', { name: 'Save policy' }).click();
    await page.locator('.form-done').waitFor();
    await page.goto(`${shop.origin}/settings/team`);
    await page.getByRole('button', { name: 'Sign-ins of Grace' }).click();
    await page.getByRole('dialog').getByRole('cell', { name: 'password, recovery-code' }).waitFor();
    await expectAccessible(page);
  });
});
