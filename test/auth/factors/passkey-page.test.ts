import { describe, expect, test } from 'vitest';
import type { ResponseChanges } from '../../support/authenticator.ts';
import { opened } from '../../support/opened.ts';
import { openPasskeys, origin, pagePath, readOptions } from '../passkey-fixture.ts';
import { openSignIn } from '../sign-in-fixture.ts';

const fixture = opened(openPasskeys);

const findId = async (name: string) => (await fixture.list()).find((each) => each.name === name)!.id;

describe('the page for adding a passkey', () => {
  test('the page for adding a passkey asks the user to sign in first, and returns to the console', async () => {
    const browser = fixture.newBrowser();
    expect((await browser.open(pagePath)).html).toContain('<h1>Sign in</h1>');
    const page = await browser.submit({ ...fixture.admin });
    expect(page.html).toContain('<h1>Add a passkey</h1>');
    const done = await browser.submit({ action: 'add-passkey', ...fixture.newDevice().create(readOptions(page)) });
    expect(done.location?.href).toBe(`${origin}/settings/you`);
  });

  test('the page for adding a passkey asks the user to sign in again after fifteen minutes', async () => {
    const browser = fixture.newBrowser();
    const page = await fixture.openToAdd(browser);
    fixture.clock.advance(15 * 60_000 + 1000);
    expect((await browser.open(pagePath)).html).toContain('<h1>Sign in</h1>');
    const late = await browser.submit({ action: 'add-passkey', ...fixture.newDevice().create(readOptions(page)) });
    expect(late.html).toContain('<h1>Sign in</h1>');
  });

  test('gives a new passkey the typed name, or the name of its platform', async () => {
    await fixture.add(fixture.newDevice(), { name: ' Blue key ' });
    await fixture.add(fixture.newDevice());
    const names = (await fixture.list()).map(({ name }) => name);
    expect(names).toContain('Blue key');
    expect(names).toContain('Passkey');
    expect(await fixture.actions()).toContain('passkey.added');
  });

  test.each([
    ['a credential id of more than 1023 bytes', { credential: 'A'.repeat(1366) }, 'credential must be base64url'],
    ['fields that are not base64url', { client_data: '{"type":"webauthn.create"}' }, 'client_data must be'],
    ['malformed CBOR', { attestation: 'v2FhYWJh' }, 'not valid here'],
    ['CBOR with an enormous length', { attestation: 'm__________8' }, 'not valid here'],
    ['a name of 10 000 bytes', { name: 'n'.repeat(10_000) }, 'The name is too long'],
    ['a name with a line break', { name: 'a\nb' }, 'The name is too long, or contains control characters'],
  ])('refuses a new passkey with %s', async (_, fields, text) => {
    const page = await fixture.add(fixture.newDevice(), fields);
    expect(page.status).toBe(400);
    expect(page.error).toContain(text);
  });

  test.each<[string, ResponseChanges]>([
    ['another origin', { origin: 'https://auth.example.evil.example' }],
    ['another relying party', { rpId: 'example' }],
    ['another type', { type: 'webauthn.get' }],
  ])('refuses a new passkey whose response has %s', async (_, tampering) => {
    const browser = fixture.newBrowser();
    const options = readOptions(await fixture.openToAdd(browser));
    const page = await browser.submit({ action: 'add-passkey', ...fixture.newDevice().create(options, tampering) });
    expect(page.status).toBe(400);
    expect(page.error).toContain('not valid here');
  });

  test('refuses a passkey that already exists', async () => {
    const device = await fixture.added();
    const page = await fixture.add(device);
    expect(page.status).toBe(400);
    expect(page.error).toBe('This passkey has been added before.');
  });

  test('refuses a new passkey with the challenge of another browser', async () => {
    const options = readOptions(await fixture.openToAdd(fixture.newBrowser()));
    const browser = fixture.newBrowser();
    await fixture.openToAdd(browser);
    const page = await browser.submit({ action: 'add-passkey', ...fixture.newDevice().create(options) });
    expect(page.error).toBe('This page is out of date. Try again.');
  });

  test('a user cannot add more than twenty passkeys', async () => {
    const person = fixture.outsider;
    for (let round = 0; round < 20; round += 1)
      expect((await fixture.add(fixture.newDevice(), {}, person)).status).toBe(303);
    const page = await fixture.openToAdd(fixture.newBrowser(), person);
    expect(page.html).toContain('You have the maximum number of passkeys.');
    expect(page.html).not.toContain('data-passkey');
  });
});

describe('the passkeys of a user', () => {
  test('the list of passkeys shows the last use of each passkey, and a passkey can be renamed', async () => {
    const device = fixture.newDevice();
    await fixture.add(device, { name: 'Phone' });
    const id = await findId('Phone');
    expect((await fixture.list()).find((each) => each.id === id)?.lastUsedAt).toBeNull();
    await fixture.enter(device);
    const at = new Date(fixture.clock.now()).toISOString();
    expect((await fixture.list()).find((each) => each.id === id)?.lastUsedAt).toBe(at);
    expect(await fixture.call('PATCH', `/${id}`, 200, { name: 'Old phone' })).toMatchObject({ name: 'Old phone' });
    expect(await fixture.actions()).toContain('passkey.renamed');
    await fixture.call('PATCH', `/${id}`, 400, { name: 'n'.repeat(10_000) });
  });

  test('a removed passkey signs nobody in', async () => {
    const device = fixture.newDevice();
    await fixture.add(device, { name: 'Lost' });
    const id = await findId('Lost');
    await fixture.call('DELETE', `/${id}`, 204);
    expect((await fixture.enter(device)).error).toContain('was removed');
    await fixture.call('DELETE', `/${id}`, 404);
    expect(await fixture.actions()).toContain('passkey.removed');
  });
});

test('no page offers passkeys if the auth URL has no host name', async () => {
  const { service, newBrowser, target } = await openSignIn();
  const page = await newBrowser().open(target());
  expect(page.html).not.toContain('data-passkey');
  const refused = await newBrowser().open(pagePath);
  expect(refused.status).toBe(400);
  expect(refused.error).toContain('Set --auth-url to such a URL');
  await service.stop();
});
