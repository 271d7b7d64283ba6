import { describe, expect, test } from 'vitest';
import { manage, token } from '../../support/binary.ts';
import { opened } from '../../support/opened.ts';
import { openPasskeys, readOptions } from '../passkey-fixture.ts';
import { appCode, secretField } from '../support/enrolment.ts';
import type { Page } from '../test-browser.ts';

const fixture = opened(openPasskeys);

async function demand(secondFactor: string): Promise<void> {
  const { http, credentials } = fixture.service;
  const access = await token(http, credentials);
  await manage(http, access, 'PATCH', '/api/v2/sign-in-policy', 200, { secondFactor });
}

const readHeading = ({ html }: Page) => /<h1>([^<]*)</.exec(html)?.[1];
const readCode = ({ location }: Page) => location?.searchParams.get('code');
const readSecret = ({ html }: Page) => secretField(html);

async function lastFactors(): Promise<unknown> {
  const entry = (await fixture.audit()).find(({ action }) => action === 'sign-in.succeeded');
  return (entry as { factors?: unknown }).factors;
}

describe('a policy that demands a second factor', () => {
  test('a user without a second factor must add a passkey after the password, before a code is issued', async () => {
    await demand('all');
    const browser = fixture.newBrowser();
    const choice = await fixture.signIn(browser);
    expect(readHeading(choice)).toBe('Set up two-step verification');
    const device = fixture.newDevice();
    const done = await browser.submit({ action: 'add-passkey', ...device.create(readOptions(choice)) });
    expect(readCode(done)).toMatch(/^[\w-]{43}$/);
    expect(await lastFactors()).toEqual(['password', 'passkey']);
    // From now on, the passkey is requested after the password. The device does not have to verify the user.
    const next = fixture.newBrowser();
    const asked = await fixture.signIn(next);
    expect(readHeading(asked)).toBe('Two-step verification');
    expect((await next.open(fixture.target())).location).toBeUndefined();
    const proof = device.get(readOptions(await fixture.signIn(next)), { verified: false });
    expect(readCode(await next.submit({ action: 'prove-passkey', ...proof }))).toMatch(/^[\w-]{43}$/);
    expect(await lastFactors()).toEqual(['password', 'passkey']);
  });

  test('only one of two browsers in which the password was entered can add the first passkey', async () => {
    await demand('all');
    const { email, password } = fixture.outsider;
    const adding = async () => {
      const browser = fixture.newBrowser();
      await browser.open(fixture.target({ client_id: 'flagmeter-cli', redirect_uri: 'http://127.0.0.1/callback' }));
      const choice = await browser.submit({ email, password });
      const device = fixture.newDevice();
      return () => browser.submit({ action: 'add-passkey', ...device.create(readOptions(choice)) });
    };
    const ready = [await adding(), await adding()];
    const pages = await Promise.all(ready.map((add) => add()));
    expect(pages.filter((page) => readCode(page) != null)).toHaveLength(1);
  });

  test('a passkey of another user, or a response for another browser, is refused as the second factor', async () => {
    await demand('optional');
    const stranger = fixture.newDevice();
    await fixture.add(stranger, {}, fixture.outsider);
    await fixture.added();
    await demand('all');
    const browser = fixture.newBrowser();
    const asked = await fixture.signIn(browser);
    const refused = await browser.submit({ action: 'prove-passkey', ...stranger.get(readOptions(asked)) });
    expect(refused.status).toBe(403);
    expect(readHeading(refused)).toBe('Two-step verification');
    expect(refused.error).toContain('This passkey is unknown here');
    const elsewhere = readOptions(await fixture.newBrowser().open(fixture.target()));
    const stale = await browser.submit({ action: 'prove-passkey', ...stranger.get(elsewhere) });
    expect(stale.error).toBe('This page is out of date. Use the passkey again.');
  });

  test('a passkey is accepted without another factor, because the device verifies the user', async () => {
    await demand('optional');
    const device = await fixture.added();
    await demand('all');
    expect(readCode(await fixture.enter(device))).toMatch(/^[\w-]{43}$/);
    expect(await lastFactors()).toEqual(['passkey']);
  });
});

test('a passkey does not replace the provider that the domain of a user requires', async () => {
  await demand('optional');
  const { http, credentials } = fixture.service;
  const access = await token(http, credentials);
  const call = (method: string, path: string, status: number, body: object) =>
    manage(http, access, method, `/api/v2${path}`, status, body);
  const device = await fixture.added();
  const wanted = { name: 'Corp', issuer: 'https://corp.example', clientId: 'c', clientSecret: 'secret' };
  const { id: providerId } = (await call('POST', '/identity-providers', 201, wanted)) as { id: string };
  await call('PATCH', '/sign-in-policy', 200, { domains: [{ domain: 'example.com', providerId }] });
  const refused = await fixture.enter(device);
  expect(refused.status).toBe(403);
  expect(refused.error).toBe('Ada@Example.com must sign in with the identity provider.');
  expect((await fixture.actions())[0]).toBe('sign-in.refused');
  await call('PATCH', '/sign-in-policy', 200, { domains: [] });
  expect(readCode(await fixture.enter(device))).toMatch(/^[\w-]{43}$/);
});

describe('a user who chooses an authenticator app', () => {
  /** A client that any user may sign in to. */
  const cli = { client_id: 'flagmeter-cli', redirect_uri: 'http://127.0.0.1/callback' };
  const password = 'words of their own choice';
  let secret: string;
  const codeNow = () => appCode(secret, fixture.clock.now());

  test('a user can set up an authenticator app in place of a passkey', async () => {
    await demand('all');
    const browser = fixture.newBrowser();
    await fixture.signIn(browser, cli, fixture.newcomer);
    const choice = await browser.submit({ action: 'new-password', password, again: password });
    expect(readHeading(choice)).toBe('Set up two-step verification');
    secret = readSecret(await browser.submit({ action: 'set-up-app' }));
    const codes = await browser.submit({ action: 'enrol', secret, code: codeNow() });
    expect(readHeading(codes)).toBe('Save your recovery codes');
  });

  test('a user with an authenticator app cannot add a passkey with only the password', async () => {
    await demand('optional');
    const browser = fixture.newBrowser();
    const asked = await fixture.openToAdd(browser, { ...fixture.newcomer, password });
    expect(readHeading(asked)).toBe('Two-step verification');
    expect(asked.html).not.toContain('data-passkey');
    const fields = fixture.newDevice().create({ challenge: 'AAAA', rp: { id: 'auth.example' } });
    const refused = await browser.submit({ action: 'add-passkey', ...fields });
    expect(readHeading(refused)).toBe('Sign in');
  });

  test('a user can add a passkey after entering the code of the app, and then sign in with either second factor', async () => {
    fixture.clock.advance(30_000);
    const browser = fixture.newBrowser();
    await fixture.openToAdd(browser, { ...fixture.newcomer, password });
    const page = await browser.submit({ action: 'second-factor', code: codeNow() });
    const device = fixture.newDevice();
    const added = await browser.submit({ action: 'add-passkey', ...device.create(readOptions(page)) });
    expect(added.status).toBe(303);
    const next = fixture.newBrowser();
    const asked = await fixture.signIn(next, cli, { ...fixture.newcomer, password });
    expect(asked.html).toContain('Use the authenticator app');
    expect((await next.submit({ action: 'authenticator' })).html).toContain('authenticator app shows');
    const proven = await next.submit({ action: 'prove-passkey', ...device.get(readOptions(asked)) });
    expect(proven.status).toBe(303);
  });
});
