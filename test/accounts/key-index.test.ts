import { describe, expect, it } from 'vitest';
import { KeyIndex } from '../../src/accounts/key-index.ts';
import { hashSecret } from '../../src/accounts/secrets.ts';
import type { Write } from '../../src/accounts/store/account-store.ts';
import type { Application, ApplicationKey } from '../../src/storage/lmdb/records.ts';

const application = { id: 'app_1', allowedOrigins: [], environments: [] } as unknown as Application;
const key = { applicationId: 'app_1', hash: 'hash', text: 'fm_fe_text', number: 1 } as unknown as ApplicationKey;
const opened: Write = { table: 'applications', key: 'app_1', value: application };
const made: Write = { table: 'applicationKeys', key: 'hash', value: key };
const revoked: Write = { table: 'applicationKeys', key: 'hash', value: undefined };

function indexAfter(...updates: readonly (readonly Write[])[]): KeyIndex {
  const index = new KeyIndex(() => 1000);
  for (const writes of updates) index.update(writes);
  return index;
}

describe('KeyIndex', () => {
  it('the key index finds a new key', () => {
    expect(indexAfter([opened, made]).find('fm_fe_text')).toMatchObject({ key, application });
  });

  it.each([
    [1001, true],
    [1000, false],
  ])('a lookup at the time 1000 finds a rotated key that expires at %i: %s', (until, isFound) => {
    for (const text of ['fm_fe_text', null]) {
      const hash = hashSecret('fm_fe_text');
      const rotated = { ...key, text, hash, replaced: { by: 'key_2', until } };
      const index = indexAfter([opened, { ...made, key: hash, value: rotated } as Write]);
      expect(index.find('fm_fe_text') !== undefined).toBe(isFound);
    }
  });

  it.each([
    ['later', [[opened, made], [revoked]]],
    ['in the same update', [[opened], [made, revoked]]],
    ['in the same update, after a use', [[opened], [made, made, revoked]]],
    [
      'with its application',
      [
        [opened, made],
        [{ ...opened, value: undefined } as Write, revoked],
      ],
    ],
  ])('the key index does not find a key that was revoked %s', (_, updates) => {
    const index = indexAfter(...(updates as Write[][]));
    expect(index.find('fm_fe_text')).toBeUndefined();
    expect(index.listKeys('app_1')).toEqual([]);
  });
});
