import { expect } from 'vitest';
import { openSignIn, type Person, type SignInFixture } from '../../auth/sign-in-fixture.ts';
import { manage, token } from '../../support/binary.ts';
import { ConsoleBrowser } from './console-browser.ts';

export const hourMs = 3_600_000;

export interface ConsoleFixture extends SignInFixture {
  consoleBrowser(): ConsoleBrowser;
  /** Returns a browser that is signed in to the console, by default as the Admin of the first team. */
  signedIn(person?: Person): Promise<ConsoleBrowser>;
  /** Calls the management API with a token of the first team's API key. */
  asKey(method: string, path: string, status: number, body?: object): Promise<unknown>;
}

export async function openConsole(): Promise<ConsoleFixture> {
  const fixture = await openSignIn();
  const { http, credentials } = fixture.service;
  const consoleBrowser = () => new ConsoleBrowser(fixture.service);
  return {
    ...fixture,
    consoleBrowser,
    async signedIn(person = fixture.admin) {
      const browser = consoleBrowser();
      await browser.signIn(person);
      expect(await browser.status()).toBe(200);
      return browser;
    },
    asKey: async (method, path, status, body) =>
      manage(http, await token(http, credentials), method, path, status, body),
  };
}

export async function readUserId(browser: ConsoleBrowser): Promise<string> {
  const response = await browser.ask('GET', '/console/session');
  return ((await response.json()) as { user: { id: string } }).user.id;
}

export async function listSignIns(
  browser: ConsoleBrowser,
): Promise<readonly { signIn: string; current: boolean; sessions: { id: string }[] }[]> {
  const response = await browser.ask('GET', `/api/v2/users/${await readUserId(browser)}/sessions`);
  return ((await response.json()) as { items: [] }).items;
}

/** Returns the end of the session, Unix ms. */
export async function expiry(browser: ConsoleBrowser): Promise<number> {
  const response = await browser.ask('GET', '/console/session');
  return Date.parse(((await response.json()) as { expiresAt: string }).expiresAt);
}
