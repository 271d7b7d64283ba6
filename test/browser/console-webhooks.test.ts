import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { openReceiver, verified } from '../webhooks/receiver.ts';
import { schemeFaults } from './support/axe.ts';
import { type Console, openConsole } from './support/console.ts';

const { test } = needing('chromium-headless-shell');

let console: Console;

beforeAll(async () => {
  console = await openConsole(['--webhook-allow-private']);
});

afterAll(async () => {
  await console?.close();
  cleanUp();
});

async function checkThemes(page: Page): Promise<void> {
  expect(await schemeFaults(page)).toEqual([]);
}

test('the settings page creates, tests, redelivers and deletes a webhook, and gives it a new secret', async () => {
  const receiver = await openReceiver();
  const { page } = await console.visit('/settings/team?tab=webhooks');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Chat');
  await dialog.getByLabel('URL').fill('ftp://hooks.example.com/');
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await dialog.getByRole('alert').getByText('`url` must').waitFor();
  await dialog.getByLabel('URL').fill(`http://127.0.0.1:${receiver.port}/`);
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('dialog', { name: 'Copy secret of Chat now' }).waitFor();
  const secret = await dialog.locator('code').innerText();
  expect(secret).toMatch(/^whsec_/);
  await page.getByRole('button', { name: 'I have stored it' }).click();
  expect(await page.content()).not.toContain(secret);

  await page.getByRole('link', { name: 'Chat' }).click();
  await page.getByRole('heading', { name: 'Webhook Chat', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Send test' }).click();
  await dialog.getByText('responded with 204, delivered.').waitFor();
  expect(await dialog.getByRole('region', { name: 'The message' }).innerText()).toBe(receiver.received[0]!.body);
  await dialog.getByRole('button', { name: 'Close' }).click();
  const row = page.getByRole('row', { name: 'webhook.test' });
  await row.getByText('delivered').waitFor();
  await row.getByText('responded with 204').waitFor();
  expect(verified(receiver.received[0]!, secret)).toMatchObject({ type: 'webhook.test' });
  await row.getByRole('button', { name: /again/ }).click();
  await receiver.arrived(2);
  await row.getByRole('cell', { name: '2', exact: true }).waitFor();

  await page.getByRole('button', { name: 'Create new secret for Chat' }).click();
  await dialog.getByRole('button', { name: 'Create new secret' }).click();
  await page.getByRole('dialog', { name: 'Copy secret of Chat now' }).waitFor();
  expect(await dialog.locator('code').innerText()).not.toBe(secret);
  await page.getByRole('button', { name: 'I have stored it' }).click();

  await page.getByRole('button', { name: 'Disable webhook Chat' }).click();
  await dialog.getByText('are dropped').waitFor();
  await dialog.getByRole('button', { name: 'Disable webhook' }).click();
  await page.getByText('State: disabled').waitFor();
  expect(await page.getByRole('button', { name: 'Send test' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Delete webhook Chat' }).click();
  await dialog.getByRole('button', { name: 'Delete webhook' }).click();
  await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
  await expect.poll(() => page.getByRole('link', { name: 'Chat' }).count()).toBe(0);
});

test('a webhook for an issue tracker is created and tested in both themes, and its format is changed', async () => {
  const receiver = await openReceiver((response) => void response.writeHead(422).end('no such project'));
  const { page } = await console.visit('/settings/team?tab=webhooks');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Tickets');
  const findTop = async (label: string) => (await dialog.getByLabel(label, { exact: true }).boundingBox())?.y;
  expect(await findTop('Name'), 'a form of many fields has two columns').toBe(await findTop('Format'));
  await dialog.getByLabel('Format').selectOption({ label: 'Jira' });
  await dialog.getByLabel('URL').fill(`http://127.0.0.1:${receiver.port}/`);
  await dialog.getByLabel('Project').fill('SHOP');
  await dialog.getByLabel('Authorization').fill('Bearer a-credential');
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('link', { name: 'Tickets' }).click();
  await page.getByRole('button', { name: 'Send test' }).click();
  await dialog.getByText('responded with 422, failed').waitFor();
  await dialog.getByLabel('The response').getByText('no such project').waitFor();
  const [{ body, headers }] = receiver.received as [(typeof receiver.received)[0]];
  expect(await dialog.getByRole('region', { name: 'The message' }).innerText()).toBe(body);
  expect(headers.authorization).toBe('Bearer a-credential');
  await checkThemes(page);
  await dialog.getByRole('button', { name: 'Close' }).click();

  expect(await page.getByLabel('Authorization').inputValue()).toBe('');
  await checkThemes(page);
  await page.getByLabel('Format').selectOption({ label: 'Microsoft Teams' });
  expect(await page.getByLabel('Project').count()).toBe(0);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Webhook saved').first().waitFor();
  await page.getByRole('button', { name: 'Send test' }).click();
  await dialog.getByText('Action.OpenUrl').waitFor();
  const [, link = ''] =
    /"url":"([^"]+)"/.exec(await dialog.getByRole('region', { name: 'The message' }).innerText()) ?? [];
  await page.goto(link);
  await page.getByRole('heading', { name: 'Webhook Tickets', level: 1 }).waitFor();
});
