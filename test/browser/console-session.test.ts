import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { freePort } from '../../src/http/bind-failure.ts';
import { cleanUp, startBinary, stop } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { axeFaults } from './support/axe.ts';
import { type Console, openConsole, openSender, signInFirst, type Visit } from './support/console.ts';

const { test } = needing('chromium-headless-shell');

let console: Console;
let start: string;

beforeAll(async () => {
  console = await openConsole();
  start = `/apps/${(await openSender(console, 'Shop')).application}/Production/flags`;
});

afterAll(async () => {
  await console?.close();
  cleanUp();
});

/** Opens the console in its own session, which the test can end. */
const visit = () => console.visit(start, { ownSession: true });

/** Ends all sessions of the user on the server. The browser does not learn this until its next request. */
async function endSessions({ page }: Pick<Visit, 'page'>): Promise<void> {
  const ended = await page.evaluate(`(async () => {
    const ask = (method, path) => fetch(path, { method, headers: { 'flagmeter-console': '1' } });
    const { user } = await (await ask('GET', '/console/session')).json();
    const { items } = await (await ask('GET', '/api/v2/users/' + user.id + '/sessions')).json();
    const { signIn } = items.find(({ current }) => current);
    return (await ask('DELETE', '/api/v2/users/' + user.id + '/sessions/' + signIn)).status;
  })()`);
  expect(ended).toBe(204);
}

const onSignInPage = (page: Page) => page.waitForURL(/\/connect\/authorize/);

test('signing in leads to the requested address, and no page contains a token', async () => {
  const { page, context } = await visit();
  expect(new URL(page.url()).pathname).toBe(start);
  const cookies = await context.cookies();
  const session = cookies.find(({ name }) => name.startsWith('flagmeter-console'));
  expect(session).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' });
  const seen = await page.evaluate(
    'document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.documentElement.outerHTML',
  );
  expect(seen).not.toContain(session!.value.split('.')[1]);
  expect(seen).not.toMatch(/eyJ|fm_refresh/);
});

test('a redirect to the sign-in page preserves the time range in the address', async () => {
  const { page } = await console.visit(start.replace('/flags', '?range=30d&search=check'), { ownSession: true });
  await page.waitForURL(({ pathname }) => pathname === start);
  const { searchParams } = new URL(page.url());
  expect(Object.fromEntries(searchParams)).toEqual({ range: '30d', search: 'check' });
  await page.getByRole('button', { name: /30 days/ }).waitFor();
});

test('a second tab does not need another sign-in', async () => {
  const { tab } = await visit();
  const page = await tab('/settings/applications');
  await page.locator('main').waitFor();
  expect(new URL(page.url()).pathname).toBe('/settings/applications');
});

test('signing out in one tab signs out all tabs', async () => {
  const { page, context, tab } = await visit();
  const others = await Promise.all([tab(start), tab('/settings')]);
  for (const other of others) await other.locator('main').waitFor();
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  for (const each of [page, ...others]) await onSignInPage(each);
  expect((await context.cookies()).map(({ name }) => name)).not.toContainEqual(
    expect.stringMatching(/^flagmeter-console/),
  );
});

/** Makes a page read its data immediately, as when the network is back. */
const wake = (page: Page) => page.evaluate("window.dispatchEvent(new Event('online'))");

const sessionOver = (page: Page) => page.getByRole('dialog', { name: 'Your session has ended' });

/** Fills in the sign-in page. */
async function fillIn(page: Page): Promise<void> {
  await page.getByLabel('E-mail address').fill(console.credentials.adminEmail);
  await page.getByLabel('Password').fill(console.credentials.adminPassword);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

test('pages whose session has ended continue after a sign-in in another tab', async () => {
  const { page, context, tab } = await visit();
  const other = await tab(start);
  await other.locator('main').waitFor();
  for (const each of [page, other]) await each.evaluate('globalThis.kept = "what was typed"');
  await endSessions({ page });
  for (const each of [page, other]) {
    await wake(each);
    await sessionOver(each).waitFor();
    await each.locator('.live-paused').waitFor();
  }
  expect(await axeFaults(page)).toEqual([]);
  const [popup] = await Promise.all([
    context.waitForEvent('page'),
    sessionOver(page).getByRole('link', { name: 'Sign in again' }).click(),
  ]);
  await fillIn(popup);
  for (const each of [page, other]) {
    await sessionOver(each).waitFor({ state: 'detached' });
    expect(await each.evaluate('globalThis.kept')).toBe('what was typed');
  }
  // Some browsers do not allow a page to close its tab.
  if (!popup.isClosed()) await popup.getByRole('heading', { name: 'You are signed in' }).waitFor();
});

test('a change that is made after the session has ended is repeated after the user signs in again', async () => {
  const { page, context, tab } = await console.visit('/settings/applications', { ownSession: true });
  await page.getByRole('button', { name: 'Create application' }).click();
  const form = page.getByRole('dialog', { name: /application/ });
  await form.getByLabel('Name', { exact: true }).fill('Typed before');
  await endSessions({ page: await tab(start) });
  await form.getByRole('button', { name: 'Create', exact: true }).click();
  await sessionOver(page).waitFor();
  expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('Typed before');
  const [popup] = await Promise.all([
    context.waitForEvent('page'),
    sessionOver(page).getByRole('link', { name: 'Sign in again' }).click(),
  ]);
  await fillIn(popup);
  await page.getByRole('heading', { name: 'Typed before', level: 1 }).waitFor();
  const { items } = (await console.manage('GET', '/api/v2/applications', 200)) as { items: { name: string }[] };
  expect(items.filter(({ name }) => name === 'Typed before')).toHaveLength(1);
});

test('a sign-in as another user reloads the tabs of the previous user', async () => {
  const other = { email: 'grace@example.com', password: 'the first compiler' };
  await console.manage('POST', '/api/v2/users', 201, { ...other, name: 'Grace', role: 'User' });
  const { page, tab } = await visit();
  await page.evaluate('globalThis.before = true');
  const second = await tab(start);
  await second.evaluate("fetch('/console/session', { method: 'DELETE', headers: { 'flagmeter-console': '1' } })");
  await second.goto(console.origin + start);
  await onSignInPage(second);
  await signInFirst(second, other.email, other.password, 'the second compiler');
  await page.getByRole('button', { name: 'Account: Grace' }).waitFor();
  expect(await page.evaluate('globalThis.before')).toBeUndefined();
});

test('the console at another host name redirects to its base URL to sign in', async () => {
  const context = await console.chromium.newContext();
  const page = await context.newPage();
  const [, port] = console.service.http.split(':');
  await page.goto(`http://localhost:${port}${start}`);
  await fillIn(page);
  await page.waitForURL(console.origin + start);
  await page.locator('main').waitFor();
  await context.close();
});

test('several tabs whose session has ended need only one new sign-in', async () => {
  const { page, tab } = await visit();
  const tabs = [page, ...(await Promise.all(Array.from({ length: 3 }, () => tab(start))))];
  for (const each of tabs) await each.locator('main').waitFor();
  await endSessions({ page });
  await Promise.all(tabs.map((each) => each.reload()));
  for (const each of tabs) await onSignInPage(each);
  await fillIn(page);
  await page.locator('main').waitFor();
  for (const each of tabs.slice(1)) {
    await each.reload();
    await each.waitForURL((url) => url.pathname === start);
  }
});

test('an open page works after a restart of the server, without a new sign-in', async () => {
  const port = await freePort('127.0.0.1', 0);
  const listen = ['--listen', `127.0.0.1:${port}`];
  const own = await openConsole(listen);
  const expected = /net::ERR_|Failed to load resource/;
  const { page } = await own.visit('/settings', { ownSession: true, expected });
  await page.evaluate('globalThis.kept = true');
  await stop(own.service);
  await wake(page);
  const service = await startBinary({ data: own.service.data, args: listen });
  await wake(page);
  expect(await page.evaluate(statusScript('/api/v2/users/me'))).toBe(200);
  expect(await page.evaluate('globalThis.kept')).toBe(true);
  expect(await sessionOver(page).count()).toBe(0);
  await own.chromium.close();
  await stop(service);
});

test('an auth host on another site can sign users in', async () => {
  const port = await freePort('127.0.0.1', 0);
  const own = await openConsole([
    ...['--listen', `127.0.0.1:${port}`],
    ...['--auth-url', `http://localhost:${port}`, '--base-url', `http://127.0.0.1:${port}`],
  ]);
  const { page } = await own.visit('/settings/applications?x=1', { ownSession: true });
  await page.locator('main').waitFor();
  expect(page.url()).toBe(`http://127.0.0.1:${port}/settings/applications?x=1`);
  expect(await page.evaluate(statusScript('/api/v2/users/me'))).toBe(200);
  await own.close();
});

/** Script that requests a path as a page of the console does, and returns the status. */
function statusScript(path: string): string {
  return `fetch('${path}', { headers: { 'flagmeter-console': '1' } }).then((response) => response.status)`;
}
