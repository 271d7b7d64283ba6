import { describe, expect, test } from 'vitest';
import { opened } from '../../support/opened.ts';
import { openSignIn } from '../sign-in-fixture.ts';
import { encode, type Parameters } from '../test-browser.ts';

const fixture = opened(openSignIn);

/** Wrong codes are counted per network, so each test uses another network. */
let networks = 0;
const newBrowser = () => fixture.newBrowser(`127.0.1.${++networks}`);

const grant = 'urn:ietf:params:oauth:grant-type:device_code';
const scope = 'openid email flagmeter';

// biome-ignore lint/suspicious/noExplicitAny: the expectations of a test show the type
type Json = any;

async function post(path: string, form: Parameters): Promise<{ status: number; json: Json }> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = encode(form);
  const response = await fetch(`http://${fixture.service.http}${path}`, { method: 'POST', headers, body });
  return { status: response.status, json: await response.json() };
}

async function begin(form: Parameters = {}): Promise<Json> {
  const { status, json } = await post('/connect/deviceauthorization', { client_id: fixture.clientId, scope, ...form });
  expect(status).toBe(200);
  return json;
}

const poll = (device_code: string, client_id = fixture.clientId) =>
  post('/connect/token', { grant_type: grant, device_code, client_id });

/** The path and the query of the page for the code of a device. */
const getPath = ({ verification_uri_complete: uri }: Json) => uri.slice(new URL(uri).origin.length);

/** Enters the code of a device, signs in and allows or denies access. */
async function decide(codes: Json, action: string, person = fixture.admin) {
  const { browser, asked } = await signInFor(codes, person);
  return { browser, asked, done: await browser.submit({ action }) };
}

/** Enters the code of a device and signs in. */
async function signInFor(codes: Json, person = fixture.admin) {
  const browser = newBrowser();
  await browser.open(getPath(codes));
  const asked = await browser.submit({ ...person });
  expect(asked.html).toContain(codes.user_code);
  return { browser, asked };
}

/** Counts the audit log entries of allowed devices. */
const allowed = async () => (await fixture.audit()).filter(({ action }) => action === 'device.allowed').length;

test('a device gets tokens once, for the user who enters the code and agrees', async () => {
  const codes = await begin();
  const origin = `http://${fixture.service.http}`;
  expect(codes).toEqual({
    device_code: expect.stringMatching(/^fm_device_[A-Z]{8}_[\w-]{43}$/),
    user_code: expect.stringMatching(/^[BCDFGHJKMPQRTVWX]{4}-[BCDFGHJKMPQRTVWX]{4}$/),
    verification_uri: `${origin}/connect/device`,
    verification_uri_complete: `${origin}/connect/device?user_code=${codes.user_code}`,
    expires_in: 600,
    interval: 5,
  });
  expect(await poll(codes.device_code)).toMatchObject({ status: 400, json: { error: 'authorization_pending' } });
  const { asked, done } = await decide(codes, 'continue');
  expect(asked.html).toContain(fixture.admin.email);
  expect(done).toMatchObject({ status: 200, html: expect.stringContaining('Device connected') });
  const [first, second] = await Promise.all([poll(codes.device_code), poll(codes.device_code)]);
  expect([first.status, second.status].sort()).toEqual([200, 400]);
  const { json } = first.status === 200 ? first : second;
  expect(json).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope });
  const headers = { authorization: `Bearer ${json.access_token}` };
  const me = (await (await fetch(`${origin}/api/v2/users/me`, { headers })).json()) as Json;
  expect(me.email).toBe(fixture.admin.email);
  const refreshed = await post('/connect/token', {
    grant_type: 'refresh_token',
    refresh_token: json.refresh_token,
    client_id: fixture.clientId,
  });
  expect(refreshed.status).toBe(200);
  expect(await poll(codes.device_code)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
  expect((await fixture.audit()).map(({ action }) => action)).toContain('device.allowed');
});

test('a signed-in user only needs to confirm the device, even if the code is in lower case without a hyphen', async () => {
  const { browser } = await decide(await begin(), 'continue');
  const codes = await begin();
  await browser.open(`/connect/device?user_code=${codes.user_code.replace('-', '+').toLowerCase()}`);
  const done = await browser.submit({ action: 'continue' });
  expect(done.html).toContain('Device connected');
  expect(await poll(codes.device_code)).toMatchObject({ status: 200 });
});

describe('a device that gets no tokens', () => {
  test('a device gets access_denied if the user denied access', async () => {
    const codes = await begin();
    expect((await decide(codes, 'cancel')).done.html).toContain('Device not connected');
    expect(await poll(codes.device_code)).toMatchObject({ status: 400, json: { error: 'access_denied' } });
  });

  test('a device gets access_denied if the user signed out before the device polled', async () => {
    const codes = await begin();
    const { browser } = await decide(codes, 'continue');
    await browser.open('/connect/endsession');
    await browser.submit({});
    expect(await poll(codes.device_code)).toMatchObject({ status: 400, json: { error: 'access_denied' } });
  });

  test('a device and the device page report that the code has expired', async () => {
    const codes = await begin();
    fixture.clock.advance(600_000);
    expect(await poll(codes.device_code)).toMatchObject({ status: 400, json: { error: 'expired_token' } });
    const page = await newBrowser().open(getPath(codes));
    expect(page).toMatchObject({ status: 404, error: 'This code is wrong or has expired.' });
  });

  test('a device that polls too often gets slow_down, and must wait longer each time', async () => {
    const { device_code: code } = await begin();
    const pollError = async () => (await poll(code)).json.error;
    expect([await pollError(), await pollError()]).toEqual(['authorization_pending', 'slow_down']);
    fixture.clock.advance(5_000);
    expect(await pollError()).toBe('slow_down');
    fixture.clock.advance(15_000);
    expect(await pollError()).toBe('authorization_pending');
  });

  test.each<[string, () => Promise<string>, string | undefined]>([
    ['a code of another client', async () => (await begin()).device_code, 'flagmeter-cli'],
    ['an unknown code', async () => 'fm_device_x', undefined],
    ['the user code', async () => (await begin()).user_code, undefined],
  ])('a poll with %s is refused', async (_, code, client) => {
    expect(await poll(await code(), client)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
  });
});

describe('POST /connect/deviceauthorization', () => {
  test.each<[string, Parameters, number, string]>([
    ['without a client', { client_id: undefined }, 401, 'invalid_client'],
    ['of an unknown client', { client_id: 'signin_none' }, 401, 'invalid_client'],
    ['without a scope', { scope: undefined }, 400, 'invalid_scope'],
    ['without the scope openid', { scope: 'flagmeter' }, 400, 'invalid_scope'],
  ])('a device authorization request %s is refused', async (_, form, status, error) => {
    const sent = { client_id: fixture.clientId, scope, ...form };
    expect(await post('/connect/deviceauthorization', sent)).toMatchObject({ status, json: { error } });
  });

  test('a device authorization request of an API key is refused', async () => {
    const { clientId: client_id, clientSecret: client_secret } = fixture.service.credentials;
    const sent = { client_id, client_secret, scope };
    expect(await post('/connect/deviceauthorization', sent)).toMatchObject({
      status: 400,
      json: { error: 'unauthorized_client' },
    });
  });
});

describe('the page for device codes', () => {
  test('the device page asks for a code if its address contains no code', async () => {
    const page = await newBrowser().open('/connect/device');
    expect(page).toMatchObject({ status: 200, error: '' });
    expect(page.headers['content-security-policy']).toContain("form-action 'self';");
    expect(page.html).toContain('name="user_code"');
  });

  test('the device page throttles a network after twenty wrong codes, even if the next code is correct', async () => {
    const browser = newBrowser();
    const codes = await begin();
    for (let guess = 0; guess < 20; guess += 1)
      expect((await browser.open('/connect/device?user_code=BBBB-BBBB')).status).toBe(404);
    expect(await browser.open(getPath(codes))).toMatchObject({ status: 429, headers: { 'retry-after': '5' } });
    expect((await newBrowser().open(getPath(codes))).status).toBe(200);
    fixture.clock.advance(5_000);
    expect((await browser.open(getPath(codes))).status).toBe(200);
  });

  test('the device page rejects a user who is not in the team of the client', async () => {
    const codes = await begin();
    const browser = newBrowser();
    await browser.open(getPath(codes));
    const page = await browser.submit({ ...fixture.outsider });
    expect(page).toMatchObject({ status: 403, error: expect.stringContaining('is not a member') });
    expect(await poll(codes.device_code)).toMatchObject({ json: { error: 'authorization_pending' } });
  });

  test('the device page rejects a form that comes from another site, or was made for another browser', async () => {
    const codes = await begin();
    const { browser } = await decide(await begin(), 'continue');
    await browser.open(getPath(codes));
    const elsewhere = await browser.submit({ action: 'continue' }, { 'sec-fetch-site': 'cross-site' });
    expect(elsewhere.status).toBe(403);
    expect((await browser.submit({ action: 'continue', form: 'x' })).status).toBe(403);
    expect(await poll(codes.device_code)).toMatchObject({ json: { error: 'authorization_pending' } });
  });

  test('the device page accepts only one decision about a device', async () => {
    const codes = await begin();
    const { browser } = await decide(codes, 'cancel');
    expect((await browser.submit({ action: 'continue' })).status).toBe(404);
    expect(await poll(codes.device_code)).toMatchObject({ json: { error: 'access_denied' } });
  });

  test('the device page accepts only one of many concurrent decisions about a device', async () => {
    const codes = await begin();
    const before = await allowed();
    const { browser } = await signInFor(codes);
    const pages = await Promise.all([1, 2, 3].map(() => browser.submit({ action: 'continue' })));
    expect(pages.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
    expect((await allowed()) - before).toBe(1);
  });
});
