import { expect } from 'vitest';
import { type AskedOptions, Authenticator, type ResponseChanges } from '../support/authenticator.ts';
import { manage, token } from '../support/binary.ts';
import { openSignIn, type Person, type SignInFixture } from './sign-in-fixture.ts';
import type { Page, TestBrowser } from './test-browser.ts';

export const origin = 'https://auth.example';
export const pagePath = '/connect/passkey';

/** Reads the options that a page passes to the browser. */
export function readOptions({ html }: Page): AskedOptions {
  const [, text = ''] = /data-passkey="([^"]*)"/.exec(html) ?? [];
  return JSON.parse(text.replaceAll('&quot;', '"').replaceAll('&amp;', '&'));
}

export interface PasskeyFixture extends SignInFixture {
  /** Opens a browser in its own network, because failed sign-ins are counted per network. */
  newBrowser(): TestBrowser;
  /** Creates an authenticator with its own credential id. */
  newDevice(counter?: number): Authenticator;
  openToAdd(browser: TestBrowser, person?: Person): Promise<Page>;
  /**
   * Adds a device as a passkey of a user.
   * @param fields values that replace fields of the form
   */
  add(device: Authenticator, fields?: Record<string, string>, person?: Person): Promise<Page>;
  /** Creates a device, and adds it as a passkey of the Admin. */
  added(counter?: number): Promise<Authenticator>;
  /** Signs in with a passkey. */
  enter(device: Authenticator, tampering?: ResponseChanges, browser?: TestBrowser): Promise<Page>;
  /** Calls the management API about the passkeys of the Admin. */
  call(method: string, path: string, expected: number, body?: unknown): Promise<unknown>;
  list(): Promise<readonly ListedPasskey[]>;
  /** The actions in the audit log, latest first. */
  actions(): Promise<readonly string[]>;
}

export interface ListedPasskey {
  readonly id: string;
  readonly name: string;
  readonly lastUsedAt: string | null;
}

/** Starts a service at a URL where browsers allow passkeys. */
export async function openPasskeys(): Promise<PasskeyFixture> {
  const fixture = await openSignIn({ args: ['--auth-url', origin] });
  let networks = 0;
  const newBrowser = () => fixture.newBrowser(`127.0.2.${++networks}`);
  let devices = 0;
  const newDevice = (counter = 0) => new Authenticator(origin, { id: Buffer.alloc(16, ++devices), counter });
  const openToAdd = async (browser: TestBrowser, person = fixture.admin) => {
    await browser.open(pagePath);
    return browser.submit({ ...person });
  };
  const add: PasskeyFixture['add'] = async (device, fields = {}, person = fixture.admin) => {
    const browser = newBrowser();
    const options = readOptions(await openToAdd(browser, person));
    return browser.submit({ action: 'add-passkey', ...device.create(options), ...fields });
  };
  const call: PasskeyFixture['call'] = async (method, path, expected, body) => {
    const { http, credentials } = fixture.service;
    const access = await token(http, credentials);
    const { items } = (await manage(http, access, 'GET', '/api/v2/users', 200)) as {
      items: { id: string; email: string }[];
    };
    const { id } = items.find(({ email }) => email === fixture.admin.email)!;
    return manage(http, access, method, `/api/v2/users/${id}/passkeys${path}`, expected, body);
  };
  return {
    ...fixture,
    newBrowser,
    newDevice,
    openToAdd,
    add,
    call,
    async added(counter = 0) {
      const device = newDevice(counter);
      expect((await add(device)).status).toBe(303);
      return device;
    },
    async enter(device, tampering = {}, browser = newBrowser()) {
      const options = readOptions(await browser.open(fixture.target()));
      return browser.submit({ action: 'passkey', ...device.get(options, tampering) });
    },
    list: async () => ((await call('GET', '', 200)) as { items: readonly ListedPasskey[] }).items,
    actions: async () => (await fixture.audit()).map(({ action }) => action),
  };
}
