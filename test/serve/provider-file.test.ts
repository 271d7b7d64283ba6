import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/cli/options.ts';
import { readProviderFile } from '../../src/serve/config/provider-file.ts';
import { freshDirectory } from '../support/binary.ts';

const entry = { id: 'corp', name: 'Corp', issuer: 'https://login.example', clientId: 'flagmeter' };

/** Reads a provider file that contains a text or some providers. The file `secret` is in the same directory. */
function read(content: string | readonly unknown[], secret = 'the secret\n') {
  const directory = freshDirectory();
  writeFileSync(join(directory, 'secret'), secret);
  const file = join(directory, 'providers.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify({ providers: content }));
  return readProviderFile({ identityProviders: file, issuerAllowPrivate: false }, { now: () => 7 });
}

test('a configuration without a provider file has no providers', () => {
  const settings = { issuerAllowPrivate: false };
  expect(readProviderFile(settings, { now: () => 7 })).toEqual({ file: '', providers: [] });
});

test('a provider file has providers with the defaults of the API, and a secret in another file', () => {
  const { file, providers } = read([
    { ...entry, clientSecretFile: 'secret', createUsers: true },
    { ...entry, id: 'other' },
  ]);
  expect(file).toMatch(/providers\.json$/);
  expect(providers).toMatchObject([
    { id: 'corp', number: 0, clientSecret: 'the secret', createUsers: true, linkByEmail: false, enabled: true },
    { id: 'other', number: 1, clientSecret: null, scopes: ['openid', 'email', 'profile'], createdAt: 7 },
  ]);
});

describe('readProviderFile', () => {
  test.each<[string, string | readonly unknown[], string]>([
    ['a file that is not JSON', '{"providers":', 'must be valid JSON (line 1, column 14'],
    ['an unknown field', '{"provider":[]}', 'provider is unknown; the nearest known one is providers'],
    ['a file without a list', '{}', 'providers must be a list'],
    ['an entry that is a text', ['corp'], 'providers[0] must be an object'],
    [
      'an unknown field of an entry',
      [entry, { ...entry, id: 'other', clientID: 'x' }],
      'providers[1] (other).clientID is unknown; the nearest known one is clientId',
    ],
    [
      'a secret',
      [{ ...entry, clientSecret: 'hidden' }],
      'providers[0] (corp).clientSecret is unknown; the nearest known one is clientSecretFile',
    ],
    ['an entry without an id', [{ ...entry, id: undefined }], 'providers[0] must have required properties id'],
    ['an id in capitals', [{ ...entry, id: 'Corp' }], 'providers[0] (Corp).id must be 1 to 40 lower-case'],
    ['a repeated id', [entry, entry], 'providers[1] (corp).id is used by another entry'],
    ['a field of another type', [{ ...entry, enabled: 'yes' }], 'providers[0] (corp): enabled must be boolean'],
    ['an issuer over http', [{ ...entry, issuer: 'http://a.example' }], 'providers[0] (corp): issuer must'],
    ['scopes without openid', [{ ...entry, scopes: ['email'] }], 'providers[0] (corp): scopes must have'],
    [
      'an unreadable secret',
      [{ ...entry, clientSecretFile: 'none' }],
      /providers\[0\] \(corp\): clientSecretFile \/.*\/none cannot be read \(ENOENT\)/.source,
    ],
    ['21 entries', Array.from({ length: 21 }, () => entry), 'providers must have at most 20 entries'],
  ])('readProviderFile refuses %s', (_what, content, message) => {
    const attempt = () => read(content);
    expect(attempt).toThrow(UsageError);
    expect(attempt).toThrow(/^Cannot use --identity-providers \/.*providers\.json: /);
    expect(attempt).toThrow(message.includes('\\') ? new RegExp(message) : message);
    expect(attempt).not.toThrow('hidden');
  });

  test('readProviderFile refuses an empty client secret', () => {
    expect(() => read([{ ...entry, clientSecretFile: 'secret' }], '\n')).toThrow(
      'clientSecret must have 1 to 1024 characters',
    );
  });
});
