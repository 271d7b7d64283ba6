import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Write } from '../../../src/accounts/store/account-store.ts';
import { RecordCodec } from '../../../src/replication/accounts/record-codec.ts';
import { PostgresKey } from '../../../src/replication/postgres/postgres-key.ts';
import { needing } from '../../support/needing.ts';
import { newDatabase, openNode, sharedServer } from './postgres-fixture.ts';

/** Any text that a UTF-8 database can hold. */
const text = fc.string({ unit: 'binary', maxLength: 40 });

const write = fc.oneof(
  fc.record({ table: fc.constant('teams'), key: text, value: fc.record({ id: text, name: text }) }),
  fc.record({ table: fc.constant('sessions'), key: text, value: fc.constant(undefined) }),
  fc.record({ table: fc.constant('userSessions'), key: text, value: fc.constant(true) }),
) as unknown as fc.Arbitrary<Write>;

const codec = new RecordCodec(undefined);
const decodeChange = (body: string) => codec.decodeChanges([{ position: 1, id: '1', body }])[0]?.writes;

test('records of accounts are unchanged after a round trip through PostgreSQL', () => {
  fc.assert(
    fc.property(write, (one) => {
      expect(codec.decodeRecords([codec.encode(one)])).toEqual([one]);
    }),
  );
});

test('changes of accounts are unchanged after a round trip through PostgreSQL', () => {
  fc.assert(
    fc.property(fc.array(write), (writes) => {
      const records = writes.map((one) => codec.encode(one));
      expect(decodeChange(codec.encodeChange(records))).toEqual(writes);
    }),
  );
});

test('records of tables that only a later version has are skipped', () => {
  expect(codec.decodeRecords([{ table: 'novelties', key: 'a', value: '1' }])).toEqual([]);
  expect(decodeChange('[["novelties","a",1],["numbers","n",2]]')).toEqual([{ table: 'numbers', key: 'n', value: 2 }]);
});

test('the private part of a signing key is encrypted, and can be decrypted only with the same key', () => {
  const key = new PostgresKey(randomBytes(32));
  const value = { kid: 'a', alg: 'ES256', createdAt: 1, privateJwk: { kty: 'EC', d: 'secret' } } as const;
  const signingKey: Write = { table: 'signingKeys', key: 'a', value };
  const stored = new RecordCodec(key).encode(signingKey);
  expect(stored.value).not.toContain('secret');
  expect(new RecordCodec(key).decodeRecords([stored])).toEqual([signingKey]);
  for (const other of [undefined, new PostgresKey(randomBytes(32))])
    expect(() => new RecordCodec(other).decodeRecords([stored])).toThrow('--postgres-key-file');
});

test('secrets and credentials of webhooks are encrypted, and can be decrypted only with the same key', () => {
  const key = new PostgresKey(randomBytes(32));
  const secrets = [{ text: 'whsec_c2VjcmV0', until: null }];
  const value = { id: 'webhook_1', name: 'Chat', secrets, authorization: 'Bearer token' };
  const webhook = { table: 'webhooks', key: 'webhook_1', value } as unknown as Write;
  const stored = new RecordCodec(key).encode(webhook);
  expect(stored.value).toContain('Chat');
  expect(stored.value).not.toMatch(/whsec_|Bearer/);
  expect(new RecordCodec(key).decodeRecords([stored])).toEqual([webhook]);
  for (const other of [undefined, new PostgresKey(randomBytes(32))])
    expect(() => new RecordCodec(other).decodeRecords([stored])).toThrow('--postgres-key-file');
});

test('the client secret of an identity provider is encrypted, and can be decrypted only for its provider', () => {
  const key = new PostgresKey(randomBytes(32));
  const value = { id: 'provider_1', name: 'Corp', clientSecret: 'the secret' };
  const provider = { table: 'identityProviders', key: value.id, value } as unknown as Write;
  const stored = new RecordCodec(key).encode(provider);
  expect(stored.value).toContain('Corp');
  expect(stored.value).not.toContain('the secret');
  expect(new RecordCodec(key).decodeRecords([stored])).toEqual([provider]);
  const ofAnother = { ...stored, value: stored.value!.replace('provider_1', 'provider_2') };
  expect(() => new RecordCodec(key).decodeRecords([ofAnother])).toThrow('--postgres-key-file');
  const isPublic = { ...provider, value: { ...value, clientSecret: null } } as unknown as Write;
  expect(new RecordCodec(key).decodeRecords([new RecordCodec(key).encode(isPublic)])).toEqual([isPublic]);
});

test('the key of an authenticator app is encrypted, and can be decrypted only for its user', () => {
  const key = new PostgresKey(randomBytes(32));
  const value = { userId: 'ada', secret: 'A'.repeat(32), createdAt: 1, lastStep: 2, lastUsedAt: 3, recoveryCodes: [] };
  const stored = new RecordCodec(key).encode({ table: 'totp', key: 'ada', value });
  expect(stored.value).not.toContain('AAAA');
  expect(new RecordCodec(key).decodeRecords([stored])).toEqual([{ table: 'totp', key: 'ada', value }]);
  const ofAnother = { ...stored, value: stored.value!.replace('ada', 'eve') };
  expect(() => new RecordCodec(key).decodeRecords([ofAnother])).toThrow('--postgres-key-file');
});

const withPostgres = needing('postgresql').test;
withPostgres('keys and values with any characters survive, as a change and as records', async () => {
  const url = await newDatabase(await sharedServer());
  const one = openNode(url);
  const names = ['', '\0', '"', '\\', "'", '{}', 'NULL', '\n\t', 'ü', '💡', '\u2028', '$1', '\u007f'].map(
    (odd) => `x${odd}`,
  );
  await one.accountStore.change((tx) => {
    for (const name of names) tx.put('notes', name, [{ name }] as never);
  });
  const follows = openNode(url);
  await follows.accountStore.current();
  await (await sharedServer()).query('DELETE FROM fm_change', [], url);
  const loads = openNode(url);
  await loads.accountStore.current();
  for (const { accountStore } of [follows, loads])
    for (const name of names) expect(accountStore.get('notes', name)).toEqual([{ name }]);
});
