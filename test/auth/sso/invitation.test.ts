import { beforeEach, expect, test } from 'vitest';
import { opened } from '../../support/opened.ts';
import { CookieBrowser } from './cookie-browser.ts';
import { type EntryResult, openSso } from './sso-fixture.ts';

const sso = opened(() => openSso({ createUsers: false }));
beforeEach(() => sso.provider.reset());
let people = 0;

/** Invites a user, who has another e-mail address at the provider. */
async function invite() {
  const email = `guest${++people}@example.com`;
  const made = await sso.call<{ id: string; invitation: { url: string } }>('POST', '/users', 201, {
    name: 'Guest',
    email,
  });
  return { id: made.id, link: made.invitation.url };
}

/** Chooses the provider on the page of a link. @returns the address where the sign-in starts */
async function choose(browser: CookieBrowser, link: string): Promise<URL> {
  const page = `${sso.url}/connect/invitation`;
  const form = /name="form" value="([^"]*)"/.exec(await (await browser.send(page)).text())?.[1] ?? '';
  const send = async (fields: Record<string, string>) =>
    (await browser.send(page, { method: 'POST', body: new URLSearchParams({ form, token: link, ...fields }) })).text();
  expect(await send({ action: 'open' })).toContain('>Continue with Corp</button>');
  const html = await send({ provider: sso.providerId });
  const [, address = ''] = /<a class="button" href="([^"]*)"/.exec(html) ?? [];
  expect(address).not.toContain(link.split('#')[1]);
  return new URL(address.replaceAll('&amp;', '&'), page);
}

/** Accepts a link with the account at the provider. */
async function accept(link: string, browser = new CookieBrowser()): Promise<EntryResult & { readonly last: URL }> {
  const start = await choose(browser, link);
  const { last, response } = await browser.follow(start, ({ pathname }) => pathname === '/console/sign-in');
  const html = (await response?.text()) ?? '';
  const reason = /Reason: <code>(\w+)</.exec(html)?.[1];
  return { browser, last, code: null, status: response?.status, html, reason };
}

test('an invitation links an account at a provider, with which the user can then sign in', async () => {
  const { id, link } = await invite();
  sso.provider.behaviour.claims = { sub: 'guest-1', email: 'private@example.org' };
  expect((await sso.enter()).reason).toBe('user_unknown');
  const { last, browser } = await accept(link);
  expect(last.pathname).toBe('/console/sign-in');
  expect((await sso.enter(browser)).code).not.toBeNull();
  expect((await sso.enter()).code).not.toBeNull();
  expect(await sso.call('GET', `/users/${id}`, 200)).toMatchObject({ invitation: null });
  const own = (await sso.audit()).filter(({ target }) => target.id === id).map(({ action }) => action);
  expect(own.slice(-4)).toEqual(['identity.linked', 'invitation.accepted', 'invitation.created', 'user.created']);
  const entries = (await sso.audit()).filter(({ factors }) => factors?.includes('invitation'));
  expect(entries.map(({ action }) => action)).toContain('sign-in.succeeded');
});

test('an invitation cannot link the account of another user, and stays valid', async () => {
  const { link } = await invite();
  sso.provider.behaviour.claims = { sub: 'guest-1' };
  expect((await accept(link)).reason).toBe('linked_elsewhere');
  sso.provider.behaviour.claims = { sub: 'guest-2' };
  expect((await accept(link)).last.pathname).toBe('/console/sign-in');
});

test('an invitation that is withdrawn while its user is at the provider links no account', async () => {
  const { id, link } = await invite();
  sso.provider.behaviour.claims = { sub: 'guest-3' };
  const browser = new CookieBrowser();
  const start = await choose(browser, link);
  await sso.call('DELETE', `/users/${id}/reset-link`, 204);
  const { response } = await browser.follow(start, ({ pathname }) => pathname === '/console/sign-in');
  expect(await response?.text()).toContain('Reason: <code>link_over</code>');
  expect((await sso.enter()).reason).toBe('user_unknown');
});

test('an invitation sets no password if the sign-in policy disables passwords for the user', async () => {
  const { items } = await sso.call<{ items: { id: string; email: string }[] }>('GET', '/users', 200);
  const admin = items.find(({ email }) => email === sso.admin.email)!;
  await sso.call('PATCH', '/sign-in-policy', 200, { passwords: 'break-glass', breakGlass: [admin.id] });
  const { link } = await invite();
  const browser = sso.newBrowser();
  await browser.open('/connect/invitation');
  const opened = await browser.submit({ action: 'open', token: link });
  expect(opened.html).not.toContain('type="password"');
  expect(opened.html).toContain('>Continue with Corp</button>');
  const password = 'in spite of the policy';
  const refused = await browser.submit({ action: 'accept', token: link, password, again: password });
  expect(refused).toMatchObject({ status: 400, error: expect.stringContaining('You cannot use a password') });
  sso.provider.behaviour.claims = { sub: 'guest-4' };
  expect((await accept(link)).last.pathname).toBe('/console/sign-in');
});

test('an invitation offers the users of a domain only the provider of the domain', async () => {
  const wanted = { name: 'Other', issuer: 'https://login.example', clientId: 'flagmeter' };
  const { id: other } = await sso.call<{ id: string }>('POST', '/identity-providers', 201, wanted);
  const open = async (fields: Record<string, string> = {}) => {
    const browser = sso.newBrowser();
    await browser.open('/connect/invitation');
    return (await browser.submit({ token: link, ...fields })).html;
  };
  const rule = (providerId: string) =>
    sso.call('PATCH', '/sign-in-policy', 200, { domains: [{ domain: 'example.com', providerId }] });
  const { link } = await invite();
  await rule(sso.providerId);
  const page = await open({ action: 'open' });
  expect(page).toContain('>Continue with Corp</button>');
  expect(page).not.toContain('Continue with Other');
  expect(page).not.toContain('type="password"');
  expect(await open({ provider: other })).not.toContain('Continue with Other');
  await sso.call('PATCH', `/identity-providers/${other}`, 200, { enabled: false });
  await rule(other);
  const none = await open({ action: 'open' });
  expect(none).not.toContain('Continue with');
  expect(none).toContain('Ask an administrator to enable it');
  await sso.call('PATCH', '/sign-in-policy', 200, { domains: [] });
});

test('linking an account through a reset link disables the password and ends the sign-ins of the user', async () => {
  await sso.call('PATCH', '/sign-in-policy', 200, { passwords: 'everyone' });
  const { id, link } = await invite();
  const password = 'the first compiler';
  const before = sso.newBrowser();
  await before.open('/connect/invitation');
  await before.submit({ action: 'accept', token: link, password, again: password });
  const cli = { client_id: 'flagmeter-cli', redirect_uri: 'http://127.0.0.1/callback' };
  expect((await before.open(sso.target(cli))).html).toContain('<h1>Continue to');
  const { url } = await sso.call<{ url: string }>('POST', `/users/${id}/reset-link`, 200, {});
  sso.provider.behaviour.claims = { sub: 'guest-reset' };
  expect((await accept(url)).last.pathname).toBe('/console/sign-in');
  expect((await before.open(sso.target(cli))).html).toContain('<h1>Sign in</h1>');
  const { email } = await sso.call<{ email: string }>('GET', `/users/${id}`, 200);
  expect((await sso.signIn(sso.newBrowser(), cli, { email, password })).status).toBe(403);
});
