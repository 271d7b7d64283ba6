import { describe, expect, test } from 'vitest';
import { Authenticator, type ResponseChanges } from '../../support/authenticator.ts';
import { opened } from '../../support/opened.ts';
import { openPasskeys, origin, readOptions } from '../passkey-fixture.ts';

const fixture = opened(openPasskeys);

const unknown = 'This passkey is unknown here, or was removed. Use another passkey, or sign in another way.';
const outOfDate = 'This page is out of date. Use the passkey again.';

describe('a sign-in with a passkey', () => {
  test('a sign-in with a passkey needs no password, and the audit log records the passkey', async () => {
    const device = await fixture.added();
    const page = await fixture.enter(device);
    expect(page.status).toBe(303);
    expect(page.location?.searchParams.get('code')).toMatch(/^[\w-]{43}$/);
    const entry = (await fixture.audit()).find(({ action }) => action === 'sign-in.succeeded');
    expect(entry).toMatchObject({ actor: { name: fixture.admin.email }, factors: ['passkey'] });
  });

  test('a passkey also signs a user in on the device page', async () => {
    const device = await fixture.added();
    const browser = fixture.newBrowser();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams({ client_id: fixture.clientId, scope: 'openid flagmeter' });
    const path = `http://${fixture.service.http}/connect/deviceauthorization`;
    const begun = await (await fetch(path, { method: 'POST', headers, body })).json();
    const { user_code } = begun as { user_code: string };
    const options = readOptions(await browser.open(`/connect/device?user_code=${user_code}`));
    const page = await browser.submit({ action: 'passkey', ...device.get(options) });
    expect(page.html).toContain('<h1>Connect Shop &amp; Co?</h1>');
  });

  test.each<[string, ResponseChanges]>([
    ['another origin', { origin: 'http://auth.example' }],
    ['another relying party', { rpId: 'example' }],
    ['another type', { type: 'webauthn.create' }],
    ['another user', { userHandle: Buffer.from('user_0').toString('base64url') }],
    ['an unverified user', { verified: false }],
  ])('a passkey response with %s is refused', async (_, tampering) => {
    const device = await fixture.added();
    const page = await fixture.enter(device, tampering);
    expect(page.status).toBe(403);
    expect(page.error).toBe(unknown);
    const entry = (await fixture.audit())[0];
    expect(entry).toMatchObject({ action: 'sign-in.failed', factors: ['passkey'] });
  });

  test('a passkey response is refused if its signature is wrong or its passkey is unknown', async () => {
    const device = await fixture.added();
    const other = new Authenticator(origin, { id: device.id });
    expect((await fixture.enter(other)).error).toBe(unknown);
    expect((await fixture.enter(fixture.newDevice())).error).toBe(unknown);
  });

  test('the passkey challenge of another browser is refused, and nothing is written to the audit log', async () => {
    const device = await fixture.added();
    const before = (await fixture.actions()).length;
    const options = readOptions(await fixture.newBrowser().open(fixture.target()));
    const browser = fixture.newBrowser();
    await browser.open(fixture.target());
    const page = await browser.submit({ action: 'passkey', ...device.get(options) });
    expect(page.error).toBe(outOfDate);
    expect((await fixture.actions()).length).toBe(before);
  });

  test('a passkey challenge that the sender made up is refused', async () => {
    const device = await fixture.added();
    const challenge = Buffer.alloc(54, 1).toString('base64url');
    expect((await fixture.enter(device, { challenge })).error).toBe(outOfDate);
  });

  test('a passkey response is refused ten minutes after the page was shown', async () => {
    const device = await fixture.added();
    const browser = fixture.newBrowser();
    const options = readOptions(await browser.open(fixture.target()));
    fixture.clock.advance(10 * 60_000);
    const page = await browser.submit({ action: 'passkey', ...device.get(options) });
    expect(page.error).toBe(outOfDate);
    expect((await browser.submit({ action: 'passkey', ...device.get(readOptions(page)) })).status).toBe(303);
  });

  test('a passkey challenge is refused when it is used again', async () => {
    const device = await fixture.added();
    const browser = fixture.newBrowser();
    const options = readOptions(await browser.open(fixture.target()));
    const { cookie } = browser;
    const sent = { action: 'passkey', ...device.get(options) };
    expect((await browser.submit(sent)).status).toBe(303);
    browser.cookie = cookie;
    expect((await browser.submit(sent)).error).toBe(outOfDate);
  });

  test('a passkey whose counter has not increased is refused and recorded, because it might be a copy', async () => {
    const device = await fixture.added(5);
    expect((await fixture.enter(device)).status).toBe(303);
    const page = await fixture.enter(device, { counter: 6 });
    expect(page.status).toBe(403);
    expect(page.error).toContain('a copy of it might be in use');
    expect(await fixture.actions()).toContain('passkey.refused');
    expect((await fixture.enter(device)).status).toBe(303);
  });

  test('a network is throttled after five failed sign-ins with a passkey', async () => {
    const device = await fixture.added();
    const browser = fixture.newBrowser();
    for (let round = 0; round < 5; round += 1)
      expect((await fixture.enter(device, { verified: false }, browser)).status).toBe(403);
    const page = await fixture.enter(device, {}, browser);
    expect(page.status).toBe(429);
    expect(page.error).toMatch(/^Too many attempts have failed\. Try again in \d seconds\.$/);
  });

  test('the sign-in page shows an error for a malformed passkey response', async () => {
    const browser = fixture.newBrowser();
    await browser.open(fixture.target());
    const page = await browser.submit({ action: 'passkey', credential: 'AAAA', client_data: '%' });
    expect(page.status).toBe(400);
  });
});
