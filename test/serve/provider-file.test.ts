import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/cli/flags.ts';
import { readProviderFile } from '../../src/serve/config/provider-file.ts';
import { freshDirectory } from '../support/binary.ts';

const entry = { id: 'corp', name: 'Corp', issuer: 'https://login.example', clientId: 'flagmeter' };

/** Reads a file with this text, or these providers, beside the file `secret`. */
function read(content: string | readonly unknown[], secret = 'the secret\n') {
  const directory = freshDirectory();
  writeFileSync(join(directory, 'secret'), secret);
  const file = join(directory, 'providers.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify({ providers: content }));
  return readProviderFile({ identityProviders: file, issuerAllowPrivate: false }, { now: () => 7 });
}

test('without a file there are no providers', () => {
  const settings = { issuerAllowPrivate: false };
  expect(readProviderFile(settings, { now: () => 7 })).toEqual({ file: '', providers: [] });
});

test('a file has providers with the defaults of the API, and a secret beside it', () => {
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

describe('a file is refused', () => {
  test.each<[string, string | readonly unknown[], string]>([
    ['that is not JSON', '{"providers":', 'must be valid JSON (line 1, column 14'],
    ['with an unknown field', '{"provider":[]}', 'provider is unknown; the nearest known one is providers'],
    ['without a list', '{}', 'providers must be a list'],
    ['with an entry that is a text', ['corp'], 'providers[0] must be an object'],
    [
      'with an unknown field of an entry',
      [entry, { ...entry, id: 'other', clientID: 'x' }],
      'providers[1] (other).clientID is unknown; the nearest known one is clientId',
    ],
    [
      'with a secret',
      [{ ...entry, clientSecret: 'hidden' }],
      'providers[0] (corp).clientSecret is unknown; the nearest known one is clientSecretFile',
    ],
    ['without an id', [{ ...entry, id: undefined }], 'providers[0] must have required properties id'],
    ['with an id in capitals', [{ ...entry, id: 'Corp' }], 'providers[0] (Corp).id must be 1 to 40 lower-case'],
    ['with an id twice', [entry, entry], 'providers[1] (corp).id is that of another entry'],
    ['with a field of another type', [{ ...entry, enabled: 'yes' }], 'providers[0] (corp): enabled must be boolean'],
    ['with an issuer over http', [{ ...entry, issuer: 'http://a.example' }], 'providers[0] (corp): issuer: must'],
    ['without openid', [{ ...entry, scopes: ['email'] }], 'providers[0] (corp): scopes: must have'],
    [
      'whose secret cannot be read',
      [{ ...entry, clientSecretFile: 'none' }],
      /providers\[0\] \(corp\): clientSecretFile \/.*\/none cannot be read \(ENOENT\)/.source,
    ],
    ['with 21 entries', Array.from({ length: 21 }, () => entry), 'providers must have at most 20 entries'],
  ])('%s', (_what, content, message) => {
    const attempt = () => read(content);
    expect(attempt).toThrow(UsageError);
    expect(attempt).toThrow(/^Cannot use --identity-providers \/.*providers\.json: /);
    expect(attempt).toThrow(message.includes('\\') ? new RegExp(message) : message);
    expect(attempt).not.toThrow('hidden');
  });

  test('whose secret is empty', () => {
    expect(() => read([{ ...entry, clientSecretFile: 'secret' }], '\n')).toThrow(
      'clientSecret: must have 1 to 1024 characters',
    );
  });
});
