import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { manage, token } from '../../support/binary.ts';
import { opened } from '../../support/opened.ts';
import { openSignIn, type Person } from '../sign-in-fixture.ts';
import { encode, type Page, type TestBrowser } from '../test-browser.ts';

const fixture = opened(openSignIn);
let access: string;
beforeAll(async () => {
  access = await token(fixture.service.http, fixture.service.credentials);
});

const own = 'a password of their own';
const submitNew = (browser: TestBrowser, password: string, again = password) =>
  browser.submit({ action: 'new-password', password, again });

const readCode = ({ location }: Page) => location?.searchParams.get('code') ?? undefined;

let people = 0;

/** A user whom an Admin created through the API, with this password. */
async function create(password = 'given by an Admin'): Promise<Person & { readonly id: string }> {
  const email = `grace${++people}@example.com`;
  const body = { email, name: 'Grace', password };
  const made = await manage(fixture.service.http, access, 'POST', '/api/v2/users', 201, body);
  const { id } = made as { id: string };
  return { id, email, password };
}

describe('a user whose password was set by an Admin', () => {
  let person: Person;
  let browser: TestBrowser;
  let page: Page;
  beforeEach(async () => {
    person = await create();
    browser = fixture.newBrowser();
    page = await fixture.signIn(browser, {}, person);
  });

  test('a user with a temporary password must choose another password before a code is issued', async () => {
    expect(page).toMatchObject({ status: 200, location: undefined });
    expect(page.html).toContain('<h1>Choose a password</h1>');
    expect(page.html).not.toContain(person.password);
    const again = await browser.open(fixture.target());
    expect(again.html).toContain('<h1>Choose a password</h1>');
    expect(await browser.submit({ action: 'continue' })).toMatchObject({ status: 200, location: undefined });
    const silent = await browser.open(fixture.target({ prompt: 'none' }));
    expect(silent.location?.searchParams.get('error')).toBe('interaction_required');
  });

  test('a user who has not chosen another password must sign in again after ten minutes', async () => {
    fixture.clock.advance(10 * 60_000);
    expect((await browser.open(fixture.target())).html).toContain('<h1>Sign in</h1>');
  });

  test('a new password replaces the temporary password, and a code is issued', async () => {
    const done = await submitNew(browser, own);
    expect(done.status).toBe(303);
    expect(readCode(done)).toMatch(/^[\w-]{43}$/);
    expect(readCode(await browser.open(fixture.target()))).toBeDefined();
    expect(readCode(await fixture.signIn(fixture.newBrowser(), {}, { ...person, password: own }))).toBeDefined();
    expect(await fixture.signIn(fixture.newBrowser(), {}, person)).toMatchObject({ status: 403 });
  });

  test('the device page requires a new password before the confirmation of a device', async () => {
    const { http } = fixture.service;
    const body = encode({ client_id: fixture.clientId, scope: 'openid' });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const response = await fetch(`http://${http}/connect/deviceauthorization`, { method: 'POST', headers, body });
    const { user_code } = (await response.json()) as { user_code: string };
    const path = `/connect/device?user_code=${user_code}`;
    expect((await browser.open(path)).html).toContain('<h1>Choose a password</h1>');
    expect((await browser.submit({ action: 'continue' })).html).toContain('<h1>Choose a password</h1>');
    const question = await submitNew(browser, own);
    expect(question.html).toContain(user_code);
    expect((await browser.submit({ action: 'continue' })).html).toContain('Device connected');
  });
});

describe('a new password', () => {
  let person: Person;
  let browser: TestBrowser;
  beforeAll(async () => {
    person = await create();
    browser = fixture.newBrowser();
    await fixture.signIn(browser, {}, person);
  });

  test.each<[string, (person: Person) => readonly [string, string?], string]>([
    ['a short password', () => ['short'], 'The password must have at least 12 characters.'],
    ['a common password', () => ['Password1234'], 'The password must not be one of the most common passwords'],
    ['a password with the name of the service', () => ['my-Fl4gmeter-1'], 'The password must not contain the name'],
    ['a password with the address', ({ email }) => [`x ${email}`], 'The password must not contain the e-mail address'],
    [
      'a password with the local part of the address',
      ({ email }) => [`Password of ${email.split('@')[0]?.toUpperCase()}`],
      'The password must not',
    ],
    ['two different passwords', () => [own, `${own}!`], 'The two passwords differ.'],
    ['the old password', ({ password }) => [password], 'Choose a password other than the one'],
  ])('the page for a new password rejects %s', async (_, typed, error) => {
    const refused = await submitNew(browser, ...typed(person));
    expect(refused).toMatchObject({ status: 400, location: undefined });
    expect(refused.error).toContain(error);
  });

  test('a valid new password is accepted after several invalid passwords', async () => {
    expect(readCode(await submitNew(browser, own))).toBeDefined();
  });
});

test('a new password is accepted once, and only from the browser that used the temporary password', async () => {
  const person = await create();
  const browser = fixture.newBrowser();
  await fixture.signIn(browser, {}, person);
  const other = fixture.newBrowser();
  await other.open(fixture.target());
  expect((await submitNew(other, own)).html).toContain('<h1>Sign in</h1>');
  expect(readCode(await submitNew(browser, own))).toBeDefined();
  await browser.open(fixture.target({ prompt: 'login' }));
  expect((await submitNew(browser, `${own} 2`)).html).toContain('<h1>Sign in</h1>');
});

test('a user who chooses a new password gets no code for the client of another team', async () => {
  const cli = { client_id: 'flagmeter-cli', redirect_uri: 'http://127.0.0.1:1/callback' };
  const browser = fixture.newBrowser();
  expect((await fixture.signIn(browser, cli, fixture.newcomer)).html).toContain('<h1>Choose a password</h1>');
  await browser.open(fixture.target());
  expect(await submitNew(browser, own)).toMatchObject({ status: 403, location: undefined });
});

test.each(['Password1234', '1q2w3e4r5t6y', '123456789012', 'flagmeter-2026', 'grace@example.com'])(
  'the API rejects the password %s',
  async (password) => {
    const body = { email: 'grace@example.com', name: 'Grace', password };
    const refused = await manage(fixture.service.http, access, 'POST', '/api/v2/users', 400, body);
    expect(refused).toMatchObject({ code: 'invalid_body', detail: expect.stringContaining('must not') });
  },
);
