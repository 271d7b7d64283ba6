import { expect, vi } from 'vitest';
import type { PostgresAccountStore } from '../../../src/replication/accounts/postgres.ts';
import { needing } from '../../support/needing.ts';
import { opened } from '../../support/opened.ts';
import { primaryAndStandby } from '../../support/postgres-pair.ts';
import { put, read } from './fixture.ts';
import { newDatabase, openNode } from './postgres-fixture.ts';

const { describe, it } = needing('postgresql');

const pair = opened(primaryAndStandby);

/** Requests to the store that require current accounts. */
const requests = {
  read: (accountStore: PostgresAccountStore) => accountStore.current(),
  'change that writes nothing': (accountStore: PostgresAccountStore) =>
    accountStore.change((tx) => tx.has('numbers', 'token')),
  change: (accountStore: PostgresAccountStore) => accountStore.change((tx) => tx.put('numbers', 'other', 1)),
};

const refusal = 'postgres_unavailable';

/** The result of each request. */
async function collectResults(accountStore: PostgresAccountStore): Promise<Record<string, string>> {
  const results = Object.entries(requests).map(async ([name, request]) => {
    const result = request(accountStore).then(
      () => 'answered',
      ({ code }: { code: string }) => code,
    );
    return [name, await result] as const;
  });
  return Object.fromEntries(await Promise.all(results));
}

const each = (result: string) => Object.fromEntries(Object.keys(requests).map((name) => [name, result]));

describe('a request whose commit is not confirmed by a standby', () => {
  it('requests about accounts are refused while the standby is paused, and served after it resumes', async () => {
    const { accountStore } = openNode(await newDatabase(pair.primary), { deadlineMs: 1000 });
    await accountStore.current();
    pair.standby.pause();
    try {
      expect(await collectResults(accountStore)).toEqual(each(refusal));
    } finally {
      pair.standby.resume();
    }
    await accountStore.start();
    const heals = { interval: 50 };
    await vi.waitFor(async () => expect(await collectResults(accountStore)).toEqual(each('answered')), heals);
  });

  it('a node refuses requests if it reaches only an old primary that lacks changes of the new primary', async () => {
    const url = await newDatabase(pair.primary);
    const { accountStore } = openNode(url, { deadlineMs: 1000 });
    await accountStore.change((tx) => put(tx, 'numbers', 'token', 1));
    await accountStore.current();
    await pair.promote();
    await pair.beAlone();
    const other = openNode(pair.primary.url(new URL(url).pathname.slice(1)));
    await other.accountStore.change((tx) => tx.remove('numbers', 'token'));
    expect(await collectResults(accountStore)).toEqual(each(refusal));
    expect(read(accountStore, 'numbers', 'token')).toBe(1); // Using this record would accept the removed token.
  });
});
