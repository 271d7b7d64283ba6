import { existsSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { UsageError } from '../../src/cli/options.ts';
import { lockDataDirectory } from '../../src/storage/lmdb/lock.ts';
import { testClock } from '../accounts/fixture.ts';
import { TestBrowser } from '../auth/test-browser.ts';
import { refresh, type StoredStore } from '../fixtures/stores/fill.ts';
import { unpack } from '../fixtures/stores/unpack.ts';
import { freshDirectory, manage, token } from '../support/binary.ts';
import { runCommand } from '../support/run-command.ts';
import { type LocalService, startLocal } from '../support/service.ts';

/** Runs `admin reset-password`. Every file that it reads contains `text`. */
async function reset(argv: readonly string[], text = ''): Promise<string> {
  let out = '';
  const write = (more: string) => {
    out += more;
  };
  const code = await runCommand(['admin', 'reset-password', ...argv], {
    out: write,
    err: () => {},
    interactive: false,
    env: {},
    readFile: () => text,
  });
  expect(code).toBe(0);
  return out;
}

/** A data directory with an administrator who has a session. */
function stored(): { data: string; store: StoredStore } {
  const data = `${freshDirectory()}/data`;
  return { data, store: unpack('layout-1', data) };
}

function start(data: string, { filledAt, credentials }: StoredStore): Promise<LocalService> {
  return startLocal({ data, credentials, clock: testClock(filledAt + 60_000) });
}

/** True if the password signs the administrator in; `once` if it must then be replaced by another password. */
async function signsIn({ http }: LocalService, store: StoredStore, password: string) {
  const browser = new TestBrowser(http, '127.0.0.1');
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: store.clientId,
    redirect_uri: 'http://127.0.0.1/callback',
    scope: 'openid',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });
  await browser.open(`/connect/authorize?${query}`);
  const email = store.credentials.adminEmail;
  const page = await browser.submit({ email, password, action: 'sign-in' });
  if (page.html.includes('Choose a password')) return 'once';
  return page.error === '' && page.status < 400;
}

describe('admin reset-password', () => {
  test("admin reset-password prints a new password once, and ends the user's sessions", async () => {
    const { data, store } = stored();
    const { adminEmail, adminPassword } = store.credentials;
    const out = await reset(['--data', data, '--email', adminEmail.toUpperCase(), '--json']);
    const { email, password } = JSON.parse(out);
    expect({ email, length: password.length }).toEqual({ email: adminEmail.toUpperCase(), length: 23 });

    const service = await start(data, store);
    expect(await refresh(service.http, store)).toBe(400);
    expect(await signsIn(service, store, adminPassword)).toBe(false);
    expect(await signsIn(service, store, password)).toBe('once');
    const access = await token(service.http, store.credentials);
    const audit = (await manage(service.http, access, 'GET', '/api/v2/audit?limit=5', 200)) as {
      items: { action: string; actor: { type: string } }[];
    };
    expect(audit.items.find(({ action }) => action === 'user.password-changed')?.actor.type).toBe('system');
    await service.stop();
  });

  test('admin reset-password allows a sign-in immediately, even after many failed sign-ins', async () => {
    const { data, store } = stored();
    let service = await start(data, store);
    for (let i = 0; i < 7; i += 1) expect(await signsIn(service, store, `wrong password ${i}`)).toBe(false);
    expect(await signsIn(service, store, store.credentials.adminPassword)).toBe(false);
    await service.stop();

    const out = await reset(['--data', data, '--email', store.credentials.adminEmail, '--json']);
    service = await start(data, store);
    expect(await signsIn(service, store, JSON.parse(out).password)).toBe('once');
    await service.stop();
  });

  test('admin reset-password reads the password from a file, and does not show it', async () => {
    const { data, store } = stored();
    const argv = ['--data', data, '--email', store.credentials.adminEmail, '--password-file', 'p'];
    const out = await reset(argv, 'correct horse battery\n');
    expect(out).toContain('has a new password');
    expect(out).not.toContain('correct horse');
    const service = await start(data, store);
    expect(await signsIn(service, store, 'correct horse battery')).toBe(true);
    await service.stop();
  });

  test('admin reset-password sends the request to the running server of the data directory', async () => {
    const { data, store } = stored();
    const lock = lockDataDirectory(data);
    const service = await start(data, store);
    const email = store.credentials.adminEmail;
    const { password } = JSON.parse(await reset(['--data', data, '--email', email, '--json']));
    expect(await refresh(service.http, store)).toBe(400);
    expect(await signsIn(service, store, store.credentials.adminPassword)).toBe(false);
    expect(await signsIn(service, store, password)).toBe('once');
    expect(service.log()).not.toContain(password);
    await expect(reset(['--data', data, '--email', 'nobody@example.com'])).rejects.toThrow(
      `Cannot find nobody@example.com in ${data}: no user has this e-mail address`,
    );
    await service.stop();
    lock.release();
  });

  it('admin reset-password lists the administrators if there is no such user', async () => {
    const { data, store } = stored();
    await expect(reset(['--data', data, '--email', 'nobody@example.com'])).rejects.toThrow(
      `Cannot find nobody@example.com in ${data}: no user has this e-mail address; its administrators are ${store.credentials.adminEmail}`,
    );
  });

  it('admin reset-password creates no data directory', async () => {
    const data = `${freshDirectory()}/data`;
    await expect(reset(['--data', data, '--email', 'a@b'])).rejects.toThrow(`Cannot find a store in ${data}`);
    expect(existsSync(data)).toBe(false);
  });

  it.each([
    [['reset-password'], 'Cannot use admin reset-password without --email'],
    [
      ['reset-password', '--email', 'a@b', '--password-file', 'p'],
      'the password in its first line must have at least 12',
    ],
    [[], 'Cannot use admin alone: use one of reset-password'],
    [['reset-pasword'], 'Unknown command admin reset-pasword; the nearest known one is admin reset-password'],
  ])('admin refuses the arguments %j', async (argv, message) => {
    const terminal = { out: () => {}, err: () => {}, interactive: false, env: {}, readFile: () => 'short\n' };
    const attempt = async () => runCommand(['admin', ...argv], terminal);
    await expect(attempt()).rejects.toThrow(UsageError);
    await expect(attempt()).rejects.toThrow(message);
  });
});
