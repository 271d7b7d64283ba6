import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { axeFaults } from './support/axe.ts';
import { watchCopies } from './support/clipboard.ts';
import { type Console, openConsole, openSender, type VisitOptions } from './support/console.ts';

const { test } = needing('chromium-headless-shell');

const run = promisify(execFile);

let console_: Console;
beforeAll(async () => {
  console_ = await openConsole();
});
afterAll(async () => {
  await console_?.close();
  cleanUp();
});

/** Runs the code that the page shows, as a reader would after copying it. */
async function runShown(page: Page): Promise<string> {
  const code = await page.locator('.connect-text').textContent();
  return (await run('bash', ['-c', code ?? ''])).stdout;
}

/** Opens the Connect page of a new application with a Frontend key. */
async function connect(fields: object = {}, options: VisitOptions = {}) {
  const sender = await openSender(console_, 'Shop', { ...fields });
  const path = `/apps/${sender.application}/Production/connect?use=own`;
  const visit = await console_.visit(path, options);
  await visit.page.getByText('Waiting for a packet').waitFor();
  return { ...sender, ...visit, path };
}

const withCurl = needing('chromium-headless-shell', 'curl');

withCurl.test('the first-run pages lead a new user from an empty console to the first packet', async () => {
  const { page } = await console_.visit('/');
  await page.getByRole('heading', { name: 'Welcome' }).waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await page.getByLabel('Name').fill("Jane's shop");
  await page.getByLabel('Environments').fill('Live\nTest');
  await page.getByRole('button', { name: 'Create application' }).click();
  await page.getByRole('heading', { name: "Send to Live of Jane's shop" }).waitFor();
  expect(new URL(page.url()).pathname).toMatch(/^\/apps\/app_\w+\/Live\/connect$/);

  await page.getByRole('link', { name: 'I use my own code' }).click();
  await page.getByLabel('A web page').check();
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('Waiting for a packet').waitFor();
  expect(await page.getByText('Connected').count()).toBe(0);

  const copiedFrom = await watchCopies(page);
  await page.getByRole('button', { name: 'Copy sender for curl' }).click();
  await page.locator('.copy-text', { hasText: 'Copied' }).waitFor();
  const copied = await copiedFrom();
  expect(copied).toContain(`${console_.origin}/api/frontend/telemetry`);
  expect((await run('bash', ['-c', copied])).stdout).toMatch(/^HTTP\/1.1 202/);

  await page.getByText('✓ Connected.').waitFor();
  await page.getByText('on: 1 check, 1 use, 1 view').waitFor();
  expect(await axeFaults(page)).toEqual([]);
  // The Connect page is still available for more senders, and the navigation has one link to it.
  await page.getByRole('link', { name: 'Connect', exact: true }).waitFor();
  await page.reload();
  await page.getByText('✓ Connected.').waitFor();
  await expect.poll(() => page.locator('.connect-text').textContent()).toBe(copied);
});

withCurl.test('a new Backend key is shown only once, together with the code of the sender', async () => {
  const { application, page } = await connect();
  await page.getByRole('button', { name: 'Create another key' }).click();
  await page.getByLabel('A server').check();
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('is not shown again').waitFor();
  expect(await runShown(page)).toMatch(/^HTTP\/1.1 200/);
  await page.getByText('✓ Connected.').waitFor();
  const { items } = (await console_.manage('GET', `/api/v2/applications/${application}/keys`, 200)) as {
    items: { type: string }[];
  };
  expect(items.map(({ type }) => type)).toEqual(['Frontend', 'Backend']);
  await page.reload();
  await page.getByText('A Backend key is shown only once').waitFor();
  // When the page is opened again, it shows the same source, language and key.
  await page.getByRole('link', { name: 'Ingest', exact: true }).first().click();
  await page.getByRole('heading', { name: 'Ingest', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'Connect', exact: true }).click();
  await page.getByText('A Backend key is shown only once').waitFor();
  const kept = `${await page.evaluate('JSON.stringify({ ...localStorage })')} ${page.url()}`;
  expect(kept).toContain('key_');
  expect(kept).not.toMatch(/fm_be_/);
});

test('the code for each language has a key of the right type and a description of the report that it sends', async () => {
  const { page } = await connect();
  const promise = page.getByText('The code reports');
  await page.getByRole('button', { name: 'Node.js' }).click();
  expect(await page.locator('.connect-text').count()).toBe(0); // Node.js needs a Backend key.
  await page.getByRole('button', { name: 'Create Backend key' }).click();
  await page.getByText('is not shown again').waitFor();
  for (const name of ['Node.js', 'PHP', '.NET', 'Java']) {
    await page.getByRole('button', { name, exact: true }).click();
    await expect
      .poll(() => page.getByRole('region', { name: `The sender for ${name}` }).textContent())
      .toContain('fm_be_');
    expect(await promise.textContent()).toMatch(/one check and one use of/);
  }
  await page.getByRole('button', { name: 'Browser' }).click();
  await expect
    .poll(() => page.getByRole('region', { name: 'The sender for Browser' }).textContent())
    .toContain('fm_fe_');
  expect(await promise.textContent()).toMatch(/one view/);
});

test('the overview shows the steps to connect a sender instead of empty charts until a flag is seen', async () => {
  const { application, packet } = await openSender(console_, 'Quiet');
  const { page } = await console_.visit(`/apps/${application}/Production/flags`);
  const heading = page.getByRole('heading', { name: 'No flag was seen in Production yet' });
  await heading.waitFor();
  expect(await page.locator('.overview-tile, canvas').count()).toBe(0);
  await page.getByRole('link', { name: 'I use my own code' }).click();
  await page.getByRole('button', { name: 'PHP' }).click();
  await page.getByRole('button', { name: 'PHP', pressed: true }).waitFor();
  await page.getByRole('link', { name: 'Flags', exact: true }).click();
  await heading.waitFor();
  await page.getByRole('link', { name: /I use my own code.*Continue with the steps/ }).click();
  await page.getByRole('button', { name: 'PHP', pressed: true }).waitFor();
  await page.getByRole('link', { name: 'Flags', exact: true }).click();
  await heading.waitFor();
  // The overview has a pale colour until its figures are current.
  await page.locator('.overview[aria-busy="true"]').waitFor({ state: 'detached' });
  expect(await axeFaults(page)).toEqual([]);
  await packet({ checkout: { on: [1] } });
  await page.locator('canvas').first().waitFor();
});

test.each(['Browser', 'fetch'])(
  'the %s code sends a packet from an allowed page, and the packet is counted',
  async (name) => {
    const { page, context } = await connect();
    await page.getByRole('button', { name, exact: true }).click();
    const code = (await page.getByRole('region', { name: `The sender for ${name}` }).textContent()) ?? '';
    const site = await startSite(`<!doctype html><title>Shop</title>${code}`);
    const visitor = await context.newPage();
    const packetResponse = visitor.waitForResponse((response) => response.url().endsWith('/telemetry'));
    await visitor.goto(site);
    expect((await packetResponse).status()).toBe(202);
    await page.bringToFront();
    await page.getByText('✓ Connected.').waitFor();
    await page.getByText('on: 1 check, 1 use, 1 view').waitFor();
  },
);

/** Starts a server for a page on its own origin. @returns the address of the page */
async function startSite(html: string): Promise<string> {
  const server: Server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(html);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

withCurl.describe('a refused packet', () => {
  test.each([
    [
      'from another origin',
      /-H 'Origin: [^']*'/,
      "-H 'Origin: https://copy.example'",
      'does not allow',
      'https://copy.example',
    ],
    ['for a misspelt environment', '"e":"Production"', '"e":"Prodction"', 'no such environment', 'Prodction'],
    ['with a misspelt key', '"k":"fm_fe_', '"k":"fm_fe_x', 'an unknown key', 'fm_fe_x'],
  ])('a packet %s is shown immediately as refused, with the remedy', async (_, part, replacement, means, fact) => {
    const { page } = await connect({ allowedOrigins: ['https://shop.example'] });
    const code = (await page.locator('.connect-text').textContent()) ?? '';
    const wrong = code.replace(part, replacement);
    expect(wrong).not.toBe(code);
    expect((await run('bash', ['-c', wrong])).stdout).toMatch(/^HTTP\/1.1 40[34]/);
    const trouble = page.locator('.connect-result');
    await trouble.getByText(means).first().waitFor();
    await trouble.getByText(fact).first().waitFor();
    await trouble.getByText('What to do:').first().waitFor();
    expect(await page.getByText('✓ Connected.').count()).toBe(0);
    expect(await axeFaults(page)).toEqual([]);
    expect(await runShown(page)).toMatch(/^HTTP\/1.1 202/);
    await page.getByText('✓ Connected.').waitFor();
  });
});

test('the Connect page lists the possible reasons if no packet arrives within 30 seconds', async () => {
  const { page } = await connect({}, { ownContext: true });
  // This advances the clock of the page, but not the clock of the server.
  await page.clock.install();
  await page.reload();
  await page.getByText('Waiting for a packet').waitFor();
  await page.clock.fastForward(31_000);
  await page
    .getByText(/Packets that never reach the server|might be yours/)
    .first()
    .waitFor();
  await page.getByText('Not connected yet.').waitFor();
  expect(await page.getByText('✓ Connected.').count()).toBe(0);
});

test('a form shows the refusal of a name next to the name field, and keeps the input', async () => {
  const { page } = await console_.visit('/');
  await page.route('**/api/v2/applications?**', (route) => route.fulfill({ json: { items: [], nextCursor: null } }));
  await page.goto(`${console_.origin}/`);
  await page.getByLabel('Name').fill('é'.repeat(200));
  await page.getByLabel('Environments').fill('Live');
  await page.getByRole('button', { name: 'Create application' }).click();
  await page.getByRole('alert').waitFor();
  expect(await page.getByLabel('Name').getAttribute('aria-invalid')).toBe('true');
  expect(await page.getByLabel('Name').inputValue()).toHaveLength(200);
  expect(await page.getByLabel('Environments').inputValue()).toBe('Live');
});
