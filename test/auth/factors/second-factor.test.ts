import { beforeAll, describe, expect, it, test } from 'vitest';
import { manage, token } from '../../support/binary.ts';
import { opened } from '../../support/opened.ts';
import { openSignIn, type Person } from '../sign-in-fixture.ts';
import { appCode, appKeyIn, secretField } from '../support/enrolment.ts';
import { encode, type Page, type TestBrowser } from '../test-browser.ts';

const fixture = opened(openSignIn);
let access: string;
beforeAll(async () => {
  access = await token(fixture.service.http, fixture.service.credentials);
});

const call = (method: string, path: string, status: number, body?: unknown) =>
  manage(fixture.service.http, access, method, `/api/v2${path}`, status, body);
const require = (secondFactor: string) => call('PATCH', '/sign-in-policy', 200, { secondFactor });
const readCode = ({ location }: Page) => location?.searchParams.get('code') ?? undefined;
const readSecret = ({ html }: Page) => secretField(html);
const readHeading = ({ html }: Page) => /<h1>([^<]*)</.exec(html)?.[1];

/** The code that an authenticator app shows. @param steps periods of 30 s from now */
const now = (secret: string, steps = 0) => appCode(secret, fixture.clock.now() + steps * 30_000);

const readCodes = ({ html }: Page) => Array.from(html.matchAll(/<li><code>([^<]*)</g), ([, code = '']) => code);

let people = 0;

/** Creates a user with a password that the user has chosen. */
async function create(): Promise<Person & { readonly id: string }> {
  const email = `person${++people}@example.com`;
  const body = { email, name: 'Person', password: 'first words, then more' };
  const { id } = (await call('POST', '/users', 201, body)) as { id: string };
  const browser = fixture.newBrowser();
  const password = 'the words of a person';
  await fixture.signIn(browser, {}, { email, password: body.password });
  await browser.submit({ action: 'new-password', password, again: password });
  return { id, email, password };
}

interface EnrolledPerson {
  readonly person: Person & { readonly id: string };
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
  readonly browser: TestBrowser;
  /** The page with the recovery codes. */
  readonly page: Page;
}

/** Creates a user who sets up an authenticator app because the policy demands it. */
async function enrolled(): Promise<EnrolledPerson> {
  const person = await create();
  await require('all');
  const browser = fixture.newBrowser();
  const secret = readSecret(await fixture.signIn(browser, {}, person));
  const page = await browser.submit({ action: 'enrol', secret, code: now(secret) });
  await require('optional');
  const recoveryCodes = readCodes(page);
  return { person, secret, recoveryCodes, browser, page };
}

const prove = (browser: TestBrowser, code: string, kind?: string) =>
  browser.submit({ action: 'second-factor', code, kind });

describe('a user without a required second factor', () => {
  it('a user can set up an authenticator app after the password, and then gets an authorization code', async () => {
    const { browser, page, recoveryCodes } = await enrolled();
    expect(readHeading(page)).toBe('Save your recovery codes');
    expect(new Set(recoveryCodes).size).toBe(10);
    // Recovery codes have at least 112 bits, so a plain hash of each code can be stored.
    for (const code of recoveryCodes) expect(code).toMatch(/^([a-z2-9]{5}-){4}[a-z2-9]{5}$/);
    expect(readCode(await browser.submit({ action: 'enrolled' }))).toBeDefined();
    expect(readCode(await browser.open(fixture.target()))).toBeDefined();
  });

  it('a sign-in with prompt=login continues after the user has seen the recovery codes', async () => {
    const person = await create();
    await require('all');
    const browser = fixture.newBrowser();
    const secret = readSecret(await fixture.signIn(browser, { prompt: 'login' }, person));
    await browser.submit({ action: 'enrol', secret, code: now(secret) });
    expect(readCode(await browser.submit({ action: 'enrolled' }))).toBeDefined();
    fixture.clock.advance(10 * 60_000 + 1000);
    expect(readCode(await browser.submit({ action: 'enrolled' }))).toBeUndefined();
    await require('optional');
  });

  it('no authorization code is issued before an app is set up, and a wrong code shows the page again', async () => {
    const person = await create();
    await require('all');
    const browser = fixture.newBrowser();
    const first = await fixture.signIn(browser, {}, person);
    expect(readHeading(first)).toBe('Set up two-step verification');
    const silent = await browser.open(fixture.target({ prompt: 'none' }));
    expect(silent.location?.searchParams.get('error')).toBe('interaction_required');
    const again = await browser.submit({ action: 'enrol', secret: readSecret(first), code: '000000' });
    expect(again).toMatchObject({ status: 403, location: undefined });
    expect(readSecret(again)).toBe(readSecret(first));
    for (const action of ['continue', 'enrolled', 'second-factor', 'sign-in'])
      expect(readCode(await browser.submit({ action, secret: 'WEAK' })), action).toBeUndefined();
    await require('optional');
  });

  it('a user must enter the password again if the set-up of an authenticator app takes ten minutes', async () => {
    const person = await create();
    await require('all');
    const browser = fixture.newBrowser();
    const secret = readSecret(await fixture.signIn(browser, {}, person));
    fixture.clock.advance(10 * 60_000);
    expect(readHeading(await browser.submit({ action: 'enrol', secret, code: now(secret) }))).toBe('Sign in');
    await require('optional');
  });

  it('a stricter policy does not end a sign-in, but the next authorization request demands a second factor', async () => {
    const person = await create();
    const browser = fixture.newBrowser();
    expect(readCode(await fixture.signIn(browser, {}, person))).toBeDefined();
    await require('all');
    expect(readHeading(await browser.open(fixture.target()))).toBe('Set up two-step verification');
    await require('optional');
    expect(readCode(await browser.open(fixture.target()))).toBeDefined();
  });
});

describe('a user with an authenticator app', () => {
  it('a sign-in asks for a code of the app after the password, and accepts each code only once', async () => {
    const { person, secret } = await enrolled();
    fixture.clock.advance(30_000);
    const one = fixture.newBrowser();
    const other = fixture.newBrowser();
    for (const browser of [one, other])
      expect(readHeading(await fixture.signIn(browser, {}, person))).toBe('Two-step verification');
    const code = now(secret);
    const responses = await Promise.all([prove(one, code), prove(other, code)]);
    expect(responses.map(({ status }) => status).sort()).toEqual([303, 403]);
  });

  it('a sign-in rejects a code of the app that is older than the last accepted code', async () => {
    const { person, secret } = await enrolled();
    fixture.clock.advance(60_000);
    const browser = fixture.newBrowser();
    await fixture.signIn(browser, {}, person);
    expect(readCode(await prove(browser, now(secret, 1)))).toBeDefined();
    await fixture.signIn(browser, { prompt: 'login' }, person);
    expect((await prove(browser, now(secret))).status).toBe(403);
  });

  it('a user can sign in once with each recovery code, typed in any case and grouping', async () => {
    const { person, recoveryCodes } = await enrolled();
    const typed = recoveryCodes[3]!.toUpperCase().replaceAll('-', ' ');
    const browser = fixture.newBrowser();
    await fixture.signIn(browser, {}, person);
    expect(readHeading(await browser.submit({ action: 'recovery' }))).toBe('Use a recovery code');
    expect(readCode(await prove(browser, typed, 'recovery'))).toBeDefined();
    await fixture.signIn(browser, { prompt: 'login' }, person);
    const again = await prove(browser, typed, 'recovery');
    expect(again).toMatchObject({ status: 403, error: 'The recovery code is wrong, or was used before.' });
  });

  it('a user with an authenticator app can confirm a device only after a code of the app', async () => {
    const { person, secret } = await enrolled();
    fixture.clock.advance(30_000);
    const { http } = fixture.service;
    const response = await fetch(`http://${http}/connect/deviceauthorization`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: encode({ client_id: fixture.clientId, scope: 'openid' }),
    });
    const { user_code } = (await response.json()) as { user_code: string };
    const browser = fixture.newBrowser();
    await browser.open(`/connect/device?user_code=${user_code}`);
    expect(readHeading(await browser.submit({ ...person }))).toBe('Two-step verification');
    expect(readHeading(await browser.submit({ action: 'continue' }))).toBe('Two-step verification');
    expect((await prove(browser, now(secret))).html).toContain('value="continue"');
  });
});

describe('wrong codes', () => {
  it('an unknown browser is throttled after five wrong codes, but a known browser of the user is not', async () => {
    const { person, secret } = await enrolled();
    fixture.clock.advance(30_000);
    const known = fixture.newBrowser();
    await fixture.signIn(known, {}, person);
    expect(readCode(await prove(known, now(secret)))).toBeDefined();
    fixture.clock.advance(30_000);
    const attacker = fixture.newBrowser('127.0.0.66');
    let page = await fixture.signIn(attacker, {}, person);
    for (let at = 0; at < 5; at += 1) {
      expect((await prove(attacker, '000000')).status).toBe(403);
      page = await fixture.signIn(attacker, { prompt: 'login' }, person);
      expect(readHeading(page)).toBe('Two-step verification');
    }
    const right = await prove(attacker, now(secret));
    expect(right).toMatchObject({ status: 429, location: undefined });
    await fixture.signIn(known, { prompt: 'login' }, person);
    expect(readCode(await prove(known, now(secret)))).toBeDefined();
  });
});

test('the audit log contains the factors of each step of a sign-in', async () => {
  const { person, secret, recoveryCodes } = await enrolled();
  fixture.clock.advance(30_000);
  const browser = fixture.newBrowser();
  await fixture.signIn(browser, {}, person);
  await prove(browser, '000000');
  await prove(browser, recoveryCodes[0]!, 'recovery');
  const lines = (await fixture.audit()).filter(({ target }) => target.name === person.email);
  const own = lines.map((line) => [line.action, ...(line.factors ?? [])].join(' '));
  expect(own.slice(0, 8)).toEqual([
    'sign-in.succeeded password recovery-code',
    'recovery-code.used',
    'sign-in.failed totp',
    'sign-in.started password',
    'sign-in.succeeded password totp',
    'totp.added',
    'sign-in.started password',
    'user.password-changed password',
  ]);
  const text = JSON.stringify(await fixture.audit());
  for (const code of [appKeyIn(secret), recoveryCodes[0]!]) expect(text).not.toContain(code);
});

test('the last sign-in time of a member is the time of the second factor', async () => {
  const { person, secret } = await enrolled();
  const path = `/teams/${fixture.service.credentials.teamId}/members/${person.id}`;
  const before = await call('GET', path, 200);
  expect(before).toMatchObject({ secondFactors: ['totp', 'recovery-code'] });
  fixture.clock.advance(30_000);
  const browser = fixture.newBrowser();
  await fixture.signIn(browser, {}, person);
  expect(await call('GET', path, 200)).toEqual(before);
  await prove(browser, now(secret));
  const lastSignInAt = new Date(fixture.clock.now()).toISOString();
  expect(await call('GET', path, 200)).toEqual({ ...(before as object), lastSignInAt });
});

test("an e-mail address that looks like the throttle of a user's app codes does not throttle these codes", async () => {
  const { person, secret } = await enrolled();
  for (let guess = 0; guess < 6; guess += 1) {
    const typed = { email: `code of ${person.id}`, password: 'a guess' };
    expect((await fixture.signIn(fixture.newBrowser('127.0.7.7'), {}, typed)).status).toBe(400);
  }
  const browser = fixture.newBrowser('127.0.7.7');
  await fixture.signIn(browser, {}, person);
  expect(readCode(await prove(browser, now(secret, 1)))).toBeDefined();
});
