import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { cleanUp } from '../../support/binary.ts';
import { CookieBrowser } from './cookie-browser.ts';
import { openSso, type SsoFixture } from './sso-fixture.ts';

let sso: SsoFixture;
beforeAll(async () => {
  sso = await openSso();
});
afterEach(() => sso.provider.reset());
afterAll(async () => {
  await sso?.closeSso();
  cleanUp();
});

describe('a sign-in with a provider', () => {
  test('creates the user, and continues to the client', async () => {
    const { code, html, reason } = await sso.enter();
    expect({ code: code !== null, html, reason }).toEqual({ code: true, html: '', reason: undefined });
    const entry = (await sso.audit()).find(({ action }) => action === 'sign-in.succeeded');
    expect(entry).toMatchObject({ factors: ['provider'], provider: 'Corp' });
  });

  test('is offered on the sign-in page', async () => {
    const answer = await new CookieBrowser().send(`${sso.url}${sso.target()}`);
    expect(await answer.text()).toMatch(
      /<a class="button" href="providers\/provider_\w+\/start\?page=authorize&amp;query=[^"]+">Sign in with Corp<\/a>/,
    );
  });
});
