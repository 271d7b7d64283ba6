import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { Authenticator, flags, type ResponseChanges } from '../../support/authenticator.ts';
import { freshDirectory, manage, token } from '../../support/binary.ts';
import { needing } from '../../support/needing.ts';
import { opened } from '../../support/opened.ts';
import { openPasskeys, origin, pagePath, readOptions } from '../passkey-fixture.ts';
import type { Page } from '../test-browser.ts';

const fixture = opened(openPasskeys);

// A user can have at most twenty passkeys, so each test removes its passkeys.
afterEach(async () => {
  fixture.clock.advance(60_000); // The number of calls per minute is limited.
  await demand('optional');
  for (const { id } of await fixture.list()) await fixture.call('DELETE', `/${id}`, 204);
});

const unknown = 'This passkey is unknown here, or was removed. Use another passkey, or sign in another way.';
const outOfDate = 'This page is out of date. Use the passkey again.';
const tryAgain = 'This page is out of date. Try again.';

const readCode = ({ location }: Page) => location?.searchParams.get('code');
const readHeading = ({ html }: Page) => /<h1>([^<]*)</.exec(html)?.[1];
const handle = (text: string | Buffer) => Buffer.from(text).toString('base64url');

/** Forgeries of a passkey response by a device, a page or the network, for sign-in and registration. */
const forgeries: [string, ResponseChanges][] = [
  ['the origin of a subdomain', { origin: 'https://evil.auth.example' }],
  ['the origin of the parent domain', { origin: 'https://example' }],
  ['the origin of another port', { origin: `${origin}:8443` }],
  ['the origin of plain HTTP', { origin: 'http://auth.example' }],
  ['an origin with a trailing slash', { origin: `${origin}/` }],
  ['an opaque origin', { origin: 'null' }],
  ['an origin in an array', { clientData: { origin: [origin] } }],
  ['the origin of an Android app', { origin: 'android:apk-key-hash:AAAA' }],
  ['the relying party of the parent domain', { rpId: 'example' }],
  ['the relying party of a subdomain', { rpId: 'evil.auth.example' }],
  ['the relying party of an origin', { rpId: origin }],
  ['a page in a frame of another site', { clientData: { crossOrigin: true } }],
  ['a page in a frame of a named site', { clientData: { crossOrigin: true, topOrigin: 'https://evil.example' } }],
  ['a surrounding site, but no frame', { clientData: { topOrigin: 'https://evil.example' } }],
  ['the type of a payment', { type: 'payment.get' }],
  ['a user who was not present', { flippedFlags: flags.present }],
  ['a backup of a passkey that cannot be backed up', { flippedFlags: flags.backedUp }],
  ['bytes after the authenticator data', { trailing: Buffer.alloc(1) }],
];

describe('the sign-in page', () => {
  test.each(forgeries)('the sign-in page rejects a passkey response with %s', async (_, tampering) => {
    const device = await fixture.added();
    const page = await fixture.enter(device, tampering);
    expect(page.status).toBe(403);
    expect(page.error).toBe(unknown);
    expect((await fixture.enter(device)).status).toBe(303);
  });

  test.each([
    ['of the user with another passkey', async () => handle(await adminId())],
    ['of an unknown user', async () => handle('user_0')],
    ['with the name of a property of objects', async () => handle('__proto__')],
    ['of bytes that are not UTF-8', async () => handle(Buffer.from([0xff, 0xfe]))],
    ['that is absent', async () => ''],
  ])('the sign-in page rejects a passkey response with a user handle %s', async (_, getHandle) => {
    await fixture.added();
    const device = fixture.newDevice();
    await fixture.add(device, {}, fixture.outsider);
    const page = await fixture.enter(device, { userHandle: await getHandle() });
    expect(page.status).toBe(403);
    expect(page.error).toBe(unknown);
  });

  test('rejects a passkey whose counter was reset', async () => {
    const device = await fixture.added(7);
    expect((await fixture.enter(device)).status).toBe(303);
    for (const counter of [0, 1, 7]) {
      const page = await fixture.enter(device, { counter });
      expect(page.error).toContain('a copy of it might be in use');
    }
  });

  test('rejects a passkey challenge that was already used for a sign-in', async () => {
    const device = await fixture.added();
    const other = await fixture.added();
    const browser = fixture.newBrowser();
    const options = readOptions(await browser.open(fixture.target()));
    expect((await browser.submit({ action: 'passkey', ...device.get(options) })).status).toBe(303);
    await browser.open(fixture.target({ prompt: 'login' }));
    const page = await browser.submit({ action: 'passkey', ...other.get(options) });
    expect(page.error).toBe(outOfDate);
  });
});

async function adminId(): Promise<string> {
  const { http, credentials } = fixture.service;
  const access = await token(http, credentials);
  const { items } = (await manage(http, access, 'GET', '/api/v2/users', 200)) as {
    items: { id: string; email: string }[];
  };
  return items.find(({ email }) => email === fixture.admin.email)!.id;
}

describe('the page for adding a passkey', () => {
  test.each([
    ...forgeries,
    ['the type of a sign-in', { type: 'webauthn.get' }] satisfies [string, ResponseChanges],
    ['a statement without attestation', { attestation: ['none', new Map([['sig', Buffer.alloc(64)]])] }] satisfies [
      string,
      ResponseChanges,
    ],
    [
      'a self attestation by another key',
      {
        attestation: [
          'packed',
          new Map<string, unknown>([
            ['alg', -7],
            ['sig', Buffer.alloc(70, 1)],
          ]),
        ],
      },
    ] satisfies [string, ResponseChanges],
    ['an unknown attestation', { attestation: ['evil', new Map()] }] satisfies [string, ResponseChanges],
  ])('the page for adding a passkey rejects a response with %s', async (_, tampering) => {
    const browser = fixture.newBrowser();
    const options = readOptions(await fixture.openToAdd(browser));
    const before = (await fixture.list()).length;
    const page = await browser.submit({ action: 'add-passkey', ...fixture.newDevice().create(options, tampering) });
    expect(page.status).toBe(400);
    expect(page.error).toContain('not valid here');
    expect(await fixture.list()).toHaveLength(before);
  });

  test('rejects a passkey challenge that was already used to add another passkey', async () => {
    const browser = fixture.newBrowser();
    const options = readOptions(await fixture.openToAdd(browser));
    const add = () => browser.submit({ action: 'add-passkey', ...fixture.newDevice().create(options) });
    expect((await add()).status).toBe(303);
    await browser.open(pagePath);
    expect((await add()).error).toBe(tryAgain);
  });

  test('rejects a new passkey ten minutes after the page was shown', async () => {
    const browser = fixture.newBrowser();
    const options = readOptions(await fixture.openToAdd(browser));
    fixture.clock.advance(10 * 60_000);
    const device = fixture.newDevice();
    const page = await browser.submit({ action: 'add-passkey', ...device.create(options) });
    expect(page.error).toBe(tryAgain);
    const again = await browser.submit({ action: 'add-passkey', ...device.create(readOptions(page)) });
    expect(again.status).toBe(303);
  });

  test('rejects a new passkey after another user has signed in to the browser', async () => {
    const browser = fixture.newBrowser();
    const page = await fixture.openToAdd(browser);
    const created = fixture.newDevice().create(readOptions(page));
    await browser.submit({ action: 'switch' });
    await browser.open(pagePath);
    await browser.submit({ ...fixture.outsider });
    expect((await browser.submit({ action: 'add-passkey', ...created })).error).toBe(tryAgain);
  });

  test('a passkey with the credential id of another user does not sign that user in', async () => {
    const victim = await fixture.added();
    const copy = new Authenticator(origin, { id: victim.id });
    await fixture.add(copy, {}, fixture.outsider);
    const id = handle(await adminId());
    expect((await fixture.enter(copy, { userHandle: id })).error).toBe(unknown);
    // The outsider is not a member of the team of the client.
    expect((await fixture.enter(copy)).error).toContain(`${fixture.outsider.email} is not a member`);
    expect((await fixture.enter(victim)).status).toBe(303);
  });

  needing('openssl').test('fetches no URL from the certificates of a passkey attestation', async () => {
    let connections = 0;
    const server = createServer().on('connection', () => {
      connections += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const x5c = certificatesThatName(`http://127.0.0.1:${port}/revoked`);
    for (const format of ['packed', 'apple', 'android-key', 'fido-u2f', 'tpm']) {
      const browser = fixture.newBrowser();
      const options = readOptions(await fixture.openToAdd(browser));
      const statement = new Map<string, unknown>([
        ['alg', -7],
        ['sig', Buffer.alloc(70, 1)],
        ['x5c', x5c],
      ]);
      const created = fixture.newDevice().create(options, { attestation: [format, statement] });
      const page = await browser.submit({ action: 'add-passkey', ...created });
      expect(page.error).toContain('not valid here');
    }
    await new Promise((resolve) => server.close(resolve));
    expect(connections).toBe(0);
  });
});

/** Creates a certificate and the certificate of its issuer, both with the URL of a revocation list. */
function certificatesThatName(revoked: string): Buffer[] {
  const folder = freshDirectory();
  return ['leaf', 'issuer'].map((name) => {
    const path = join(folder, `${name}.pem`);
    execFileSync('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'],
      ...['-keyout', join(folder, `${name}.key`), '-out', path],
      ...['-subj', '/C=GB/O=Evil/OU=Authenticator Attestation/CN=Evil'],
      ...['-addext', `crlDistributionPoints=URI:${revoked}`],
    ]);
    return new X509Certificate(readFileSync(path)).raw;
  });
}

describe('the page of the second factor after the password', () => {
  /** Opens a browser in which a user with a passkey has typed the password. The policy demands a second factor. */
  async function halfway() {
    await demand('optional');
    const device = await fixture.added();
    await demand('all');
    const browser = fixture.newBrowser();
    const asked = await fixture.signIn(browser);
    expect(readHeading(asked)).toBe('Two-step verification');
    return { browser, device, asked };
  }

  test.each([
    ['the password again', () => ({ ...fixture.admin })],
    ['a code of an authenticator app', () => ({ action: 'second-factor', code: '000000' })],
    ['a recovery code', () => ({ action: 'second-factor', kind: 'recovery', code: 'AAAA-AAAA-AAAA' })],
    ['the set-up of an authenticator app', () => ({ action: 'set-up-app' })],
    ['a new authenticator app', () => ({ action: 'enrol', secret: 'A'.repeat(32), code: '000000' })],
    ['a new password', () => ({ action: 'new-password', password: 'another 12 words', again: 'another 12 words' })],
    ['consent', () => ({ action: 'allow' })],
    ['an empty proof', () => ({ action: 'prove-passkey' })],
  ])('the page of the second factor rejects %s in place of a passkey', async (_, getFields) => {
    const { browser } = await halfway();
    const page = await browser.submit(getFields());
    expect(readCode(page)).toBeUndefined();
    expect((await browser.open(fixture.target())).location).toBeUndefined();
    const silent = await browser.open(fixture.target({ prompt: 'none' }));
    expect(silent.location?.searchParams.get('error')).toMatch(/^(login|interaction)_required$/);
  });

  test('does not let a user with a passkey add another passkey after entering only the password', async () => {
    const { browser, asked } = await halfway();
    const { challenge } = readOptions(asked);
    const created = fixture.newDevice().create({ challenge, rp: { id: 'auth.example' } });
    const page = await browser.submit({ action: 'add-passkey', ...created });
    expect(readCode(page)).toBeUndefined();
    expect(readHeading(page)).toBe('Sign in');
  });

  test('rejects a passkey in place of the password if the device has not verified its user', async () => {
    const { browser, device, asked } = await halfway();
    const proof = device.get({ ...readOptions(asked) }, { verified: false });
    const page = await browser.submit({ action: 'passkey', ...proof });
    expect(page.error).toBe(unknown);
    expect(readCode(page)).toBeUndefined();
  });

  test('rejects a passkey as the second factor in a browser in which no password was entered', async () => {
    const { device } = await halfway();
    const browser = fixture.newBrowser();
    const options = readOptions(await browser.open(fixture.target()));
    const page = await browser.submit({ action: 'prove-passkey', ...device.get(options) });
    expect(readCode(page)).toBeUndefined();
    expect(readHeading(page)).toBe('Sign in');
  });
});

async function demand(secondFactor: string): Promise<void> {
  const { http, credentials } = fixture.service;
  const access = await token(http, credentials);
  await manage(http, access, 'PATCH', '/api/v2/sign-in-policy', 200, { secondFactor });
}
