import { beforeAll, expect, test } from 'vitest';
import { opened } from '../../support/opened.ts';
import type { TestBrowser } from '../test-browser.ts';
import { openSso } from './sso-fixture.ts';

const sso = opened(openSso);
let adminId: string;
beforeAll(async () => {
  const { items } = await sso.call<{ items: { id: string; email: string }[] }>('GET', '/users', 200);
  adminId = items.find(({ email }) => email === sso.admin.email)!.id;
});

const policy = (patch: object, status = 200) => sso.call('PATCH', '/sign-in-policy', status, patch);

/** Signs in with a password. @returns the status, and the error of the page */
async function enter(person: { email: string; password: string }, browser: TestBrowser = sso.newBrowser()) {
  await browser.open(sso.target());
  const { status, error } = await browser.submit({ ...person, action: 'sign-in' });
  return { status, error };
}
const wrong = 'The e-mail address or the password is wrong.';

test('passwords can be disabled only if a provider exists and an Admin can still sign in', async () => {
  await policy({ passwords: 'break-glass' }, 400);
  await sso.configure({ enabled: false });
  await policy({ passwords: 'break-glass', breakGlass: [adminId] }, 400);
  await sso.configure({ enabled: true });
  await policy({ domains: [{ domain: 'example.com', providerId: 'provider_none' }] }, 400);
});

test('only break-glass Admins can sign in with a password while passwords are disabled', async () => {
  await policy({ passwords: 'break-glass', breakGlass: [adminId] });
  expect(await enter(sso.outsider)).toEqual({ status: 403, error: wrong });
  expect((await enter(sso.admin)).status).toBe(303);
  await policy({ passwords: 'everyone' });
});

test('users of an e-mail domain are sent to the provider of the domain', async () => {
  await policy({ domains: [{ domain: 'EXAMPLE.com', providerId: sso.providerId }], breakGlass: [adminId] });
  const browser = sso.newBrowser();
  expect((await browser.open(sso.target())).html).toContain('>Continue</button>');
  const led = await browser.submit({ email: sso.outsider.email, password: '', action: 'sign-in' });
  expect(led.html).toMatch(
    new RegExp(`<meta http-equiv="refresh" content="0;url=providers/${sso.providerId}/start\\?page=authorize`),
  );
  const refused = { status: 403, error: `${wrong} Users of EXAMPLE.com sign in with Corp.` };
  expect(await enter(sso.outsider)).toEqual(refused);
  expect(await enter({ ...sso.outsider, password: 'a wrong password' })).toEqual(refused);
  expect((await enter(sso.admin)).status).toBe(303);
  await policy({ domains: [] });
});

test.each(['device', 'authenticator'])(
  'users of an e-mail domain are sent to the provider of the domain, and back to the page %s',
  async (path) => {
    await policy({ domains: [{ domain: 'example.com', providerId: sso.providerId }] });
    const form = new URLSearchParams({ client_id: 'flagmeter-cli', scope: 'openid flagmeter' });
    const device = await fetch(`${sso.url}/connect/deviceauthorization`, { method: 'POST', body: form });
    const { user_code } = (await device.json()) as { user_code: string };
    const query = path === 'device' ? `user_code=${user_code}` : '';
    const browser = sso.newBrowser();
    await browser.open(`/connect/${path}?${query}`);
    const led = await browser.submit({ email: sso.outsider.email, password: '', action: 'sign-in' });
    const [, address = ''] = /<a class="button" href="(providers[^"]+)"/.exec(led.html) ?? [];
    const { searchParams } = new URL(address.replaceAll('&amp;', '&'), `${sso.url}/connect/${path}`);
    expect(Object.fromEntries(searchParams)).toEqual({ page: path, query });
    await policy({ domains: [] });
  },
);

test('users of an e-mail domain with its own provider cannot sign in with another provider', async () => {
  const wanted = { name: 'Other', issuer: 'https://login.example', clientId: 'flagmeter' };
  const { id } = await sso.call<{ id: string }>('POST', '/identity-providers', 201, wanted);
  expect((await sso.enter()).code).not.toBeNull();
  await policy({ domains: [{ domain: 'corp.example', providerId: id }] });
  expect((await sso.enter()).reason).toBe('other_provider_required');
  sso.provider.behaviour.claims = { sub: 'eve', email: 'eve@corp.example' };
  expect((await sso.enter()).reason).toBe('other_provider_required');
  sso.provider.reset();
  await policy({ domains: [] });
});

test('a service has at most 20 identity providers', async () => {
  const wanted = { name: 'Other', issuer: 'https://login.example', clientId: 'flagmeter' };
  const make = (status: number) => sso.call<{ id: string }>('POST', '/identity-providers', status, wanted);
  const { items } = await sso.call<{ items: unknown[] }>('GET', '/identity-providers', 200);
  const made: string[] = [];
  while (items.length + made.length < 20) made.push((await make(201)).id);
  expect(await make(403)).toMatchObject({ code: 'plan_limit', detail: 'Cannot have more than 20 identity providers' });
  for (const id of made) await sso.call('DELETE', `/identity-providers/${id}`, 204);
  await make(201);
});

test('a page reports that a provider is down, and break-glass Admins can still sign in', async () => {
  await policy({ passwords: 'break-glass' });
  const { browser } = await sso.enter();
  await sso.provider.close();
  sso.clock.advance(11 * 60_000);
  const query = sso.target().split('?')[1]!;
  const start = `${sso.url}/connect/providers/${sso.providerId}/start`;
  const response = await fetch(`${start}?${new URLSearchParams({ page: 'authorize', query })}`);
  expect(response.status).toBe(503);
  expect(await response.text()).toContain('<code>provider_unreachable</code>');
  expect((await enter(sso.admin)).status).toBe(303);
  const silent = await browser.send(`${sso.url}${sso.target({ prompt: 'none' })}`);
  expect(silent.headers.get('location'), 'a sign-in continues').toContain('code=');
});
