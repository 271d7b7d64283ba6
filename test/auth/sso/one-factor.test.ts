import { expect, test } from 'vitest';
import { opened } from '../../support/opened.ts';
import { appCode } from '../support/enrolment.ts';
import { CookieBrowser } from './cookie-browser.ts';
import { type EntryResult, openSso } from './sso-fixture.ts';

const sso = opened(() => openSso({ trustsSecondFactor: false }));

const readField = ({ html }: Pick<EntryResult, 'html'>, name: string) =>
  new RegExp(`name="${name}" value="([^"]+)"`).exec(html)?.[1] ?? '';

async function submit(browser: CookieBrowser, html: string, fields: Readonly<Record<string, string>>) {
  const body = new URLSearchParams({ form: readField({ html }, 'form'), ...fields });
  return browser.send(`${sso.url}${sso.target()}`, { method: 'POST', body });
}

test('a logout at the provider also ends a sign-in that was completed with a second factor', async () => {
  await sso.call('PATCH', '/sign-in-policy', 200, { secondFactor: 'all' });
  const entered = await sso.enter();
  const { browser } = entered;
  const secret = readField(entered, 'secret');
  const code = appCode(secret, sso.clock.now());
  const codes = await submit(browser, entered.html, { action: 'enrol', secret, code });
  const signedIn = await submit(browser, await codes.text(), { action: 'enrolled' });
  expect(signedIn.headers.get('location')).toContain('code=');

  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
  const logout = { jti: 'logout-1', events, sid: 'session-1', nonce: undefined };
  const body = new URLSearchParams({ logout_token: await sso.provider.sign(logout, 'logout+jwt') });
  const ended = await fetch(`${sso.url}/connect/providers/${sso.providerId}/logout`, { method: 'POST', body });
  expect(ended.status).toBe(200);
  const silent = await browser.send(`${sso.url}${sso.target({ prompt: 'none' })}`);
  expect(silent.headers.get('location')).toContain('login_required');
});

test('a sign-in is not recent if the provider omits the sign-in time, even after a second factor', async () => {
  await sso.configure({ defaultRole: 'Admin' });
  sso.provider.behaviour.claims = { sub: 'grace', email: 'grace@corp.example' };
  const entered = await sso.enter();
  const { browser } = entered;
  const secret = readField(entered, 'secret');
  const enrol = { action: 'enrol', secret, code: appCode(secret, sso.clock.now()) };
  const codes = await submit(browser, entered.html, enrol);
  const signedIn = await submit(browser, await codes.text(), { action: 'enrolled' });
  expect(signedIn.headers.get('location')).toContain('code=');
  const account = await browser.send(`${sso.url}/connect/authenticator`);
  expect(await account.text()).toContain('<h1>Sign in</h1>');

  sso.clock.advance(60_000);
  const again = new CookieBrowser();
  const step = await sso.enter(again);
  const prove = { action: 'second-factor', code: appCode(secret, sso.clock.now()) };
  const proven = await submit(again, step.html, prove);
  expect(proven.headers.get('location')).toContain('code=');
  const page = await again.send(`${sso.url}/connect/authenticator`);
  expect(await page.text()).toContain('<h1>Sign in</h1>');
});

test('refused users of a provider are throttled, because each refusal writes to the audit log', async () => {
  await sso.configure({ createUsers: false });
  sso.provider.behaviour.claims = { sub: 'stranger' };
  for (let refused = 0; refused < 50; refused += 1) expect((await sso.enter()).reason).toBe('user_unknown');
  expect((await sso.enter()).status).toBe(429);
});
