import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { manage } from '../../support/binary.ts';
import { opened } from '../../support/opened.ts';
import { redirectUris, verifier } from '../sign-in-fixture.ts';
import { CookieBrowser } from './cookie-browser.ts';
import { openSso } from './sso-fixture.ts';

const sso = opened(openSso);
let page: string;
let adminId: string;
beforeAll(async () => {
  page = `${sso.url}/connect/identities`;
  const { items } = await sso.call<{ items: { id: string; email: string }[] }>('GET', '/users', 200);
  adminId = items.find(({ email }) => email === sso.admin.email)!.id;
});
afterEach(() => sso.provider.reset());

interface LinkedAccounts {
  readonly items: readonly { readonly id: string }[];
  readonly linkable: boolean;
}
const linkedTo = (id: string) => sso.call<LinkedAccounts & object>('GET', `/users/${id}/identities`, 200);

async function post(browser: CookieBrowser, fields: Readonly<Record<string, string>>): Promise<string> {
  const html = await (await browser.send(page)).text();
  const form = /name="form" value="([^"]*)"/.exec(html)?.[1] ?? '';
  const response = await browser.send(page, { method: 'POST', body: new URLSearchParams({ form, ...fields }) });
  return response.text();
}

/** Signs an administrator in, and starts to link an account. @returns the browser, and the address at the provider */
async function ask(): Promise<readonly [CookieBrowser, string]> {
  const browser = new CookieBrowser();
  expect(await post(browser, { ...sso.admin, action: 'sign-in' })).toContain('>Link an account at Corp</button>');
  return askIn(browser);
}

async function askIn(browser: CookieBrowser): Promise<readonly [CookieBrowser, string]> {
  const html = await post(browser, { action: 'link', provider: sso.providerId });
  return [browser, /<a class="button" href="([^"]*)"/.exec(html)![1]!.replaceAll('&amp;', '&')];
}

const atConsole = ({ pathname }: URL) => pathname === '/settings/you';
const reasonIn = async (response: Response | undefined) =>
  /Reason: <code>(\w+)</.exec((await response?.text()) ?? '')?.[1];

describe('the page for linking an account', () => {
  it('links no account for a sign-in that another site has started', async () => {
    const [browser] = await ask();
    sso.provider.behaviour.claims = { sub: 'mallory', email: 'mallory@example.com' };
    const query = new URLSearchParams({ page: 'identities', query: '', linkTo: adminId });
    const start = `${sso.url}/connect/providers/${sso.providerId}/start?${query}`;
    const { last } = await browser.follow(start, () => false);
    expect(last.pathname).toBe('/connect/identities');
    expect(await linkedTo(adminId)).toEqual({ items: [], linkable: true });
  });

  it('refuses to link an account if the signed-in user has changed, or the account belongs to another user', async () => {
    const [browser, address] = await ask();
    const { last: callback } = await browser.follow(address, ({ pathname }) => pathname.endsWith('/callback'));
    await post(browser, { ...sso.outsider, action: 'sign-in' });
    expect(await reasonIn((await browser.follow(callback, atConsole)).response)).toBe('sign_in_over');
    sso.provider.behaviour.claims = { sub: 'mallory', email: 'mallory@example.com' };
    const [another, again] = await ask();
    expect(await reasonIn((await another.follow(again, atConsole)).response)).toBe('linked_elsewhere');
    expect(await linkedTo(adminId)).toEqual({ items: [], linkable: true });
  });

  it('refuses to link an account if the sign-in is older than 15 minutes when the provider redirects back', async () => {
    sso.provider.behaviour.claims = { sub: 'late', email: 'late@example.com' };
    const browser = new CookieBrowser();
    await post(browser, { ...sso.admin, action: 'sign-in' });
    sso.clock.advance(14 * 60_000);
    const [, address] = await askIn(browser);
    const atCallback = ({ pathname }: URL) => pathname.endsWith('/callback');
    const { last: callback } = await browser.follow(address, atCallback);
    sso.clock.advance(61_000);
    expect(await reasonIn((await browser.follow(callback, atConsole)).response)).toBe('sign_in_over');
    expect(await linkedTo(adminId)).toEqual({ items: [], linkable: true });
  });

  it('refuses to link an account if the user signs in again before the provider redirects back', async () => {
    const [browser, address] = await ask();
    const { last: callback } = await browser.follow(address, ({ pathname }) => pathname.endsWith('/callback'));
    await post(browser, { ...sso.admin, action: 'sign-in' });
    expect(await reasonIn((await browser.follow(callback, atConsole)).response)).toBe('sign_in_over');
    expect(await linkedTo(adminId)).toEqual({ items: [], linkable: true });
  });

  it('linking an account does not change the time of the sign-in', async () => {
    sso.provider.behaviour.claims = { sub: 'admin-1', email: 'private@example.org' };
    const browser = new CookieBrowser();
    await post(browser, { ...sso.admin, action: 'sign-in' });
    sso.clock.advance(14 * 60_000);
    const [, address] = await askIn(browser);
    expect((await browser.follow(address, atConsole)).last.pathname).toBe('/settings/you');
    expect(await (await browser.send(page)).text()).toContain('<h1>Link an account</h1>');
    sso.clock.advance(61_000);
    expect(await (await browser.send(page)).text()).toContain('<h1>Sign in</h1>');
    const { items } = await linkedTo(adminId);
    await sso.callAsAdmin('DELETE', `/users/${adminId}/identities/${items[0]!.id}`, 204);
  });

  it('links an account, with which the user can then sign in', async () => {
    sso.provider.behaviour.claims = { sub: 'admin-1', email: 'private@example.org' };
    const [browser, address] = await ask();
    expect((await browser.follow(address, atConsole)).last.pathname).toBe('/settings/you');
    expect(await linkedTo(adminId)).toMatchObject({ items: [{ provider: 'Corp' }], linkable: false });
    expect(await (await browser.send(page)).text()).toContain('No further identity provider');
    expect((await sso.enter()).code).not.toBeNull();
    const entries = (await sso.audit()).filter(({ target }) => target.id === adminId);
    expect(entries.map(({ action }) => action)).toContain('identity.linked');
  });
});

it('users cannot unlink the only account with which they can sign in, but an Admin can', async () => {
  sso.provider.behaviour.claims = { sub: 'only', email: 'only@example.com' };
  const { code } = await sso.enter(new CookieBrowser(), { max_age: '900' });
  const form = { grant_type: 'authorization_code', code: code!, code_verifier: verifier };
  const client = { client_id: sso.clientId, redirect_uri: redirectUris.web };
  const body = new URLSearchParams({ ...form, ...client });
  const response = await fetch(`${sso.url}/connect/token`, { method: 'POST', body });
  const { access_token: access } = (await response.json()) as { access_token: string };
  const { items } = await sso.call<{ items: { id: string; email: string }[] }>('GET', '/users', 200);
  const { id } = items.find(({ email }) => email === 'only@example.com')!;
  const [linked] = (await linkedTo(id)).items;
  const path = `/users/${id}/identities/${linked!.id}`;
  const http = sso.url.replace('http://', '');
  expect(await manage(http, access, 'DELETE', `/api/v2${path}`, 409)).toMatchObject({ code: 'conflict' });
  await sso.callAsAdmin('DELETE', path, 204);
  expect((await linkedTo(id)).items).toEqual([]);
});
