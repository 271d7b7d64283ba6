import { expect, vi } from 'vitest';
import type { PostgresAccountStore } from '../../../src/replication/accounts/postgres.ts';
import { needing } from '../../support/needing.ts';
import { opened } from '../../support/opened.ts';
import { primaryAndStandby } from '../../support/postgres-pair.ts';
import { put, read } from './fixture.ts';
import { newDatabase, openNode } from './postgres-fixture.ts';

const { describe, it } = needing('postgresql');

const pair = opened(primaryAndStandby);

/** The requests that show accounts to a caller. */
const requests = {
  read: (accountStore: PostgresAccountStore) => accountStore.current(),
  'change that writes nothing': (accountStore: PostgresAccountStore) =>
    accountStore.change((draft) => draft.has('numbers', 'token')),
  change: (accountStore: PostgresAccountStore) => accountStore.change((draft) => draft.put('numbers', 'other', 1)),
};

const refusal = 'engine_unavailable';

/** The outcome of each request. */
async function answersOf(accountStore: PostgresAccountStore): Promise<Record<string, string>> {
  const answers = Object.entries(requests).map(async ([name, request]) => {
    const answer = request(accountStore).then(
      () => 'answered',
      ({ code }: { code: string }) => code,
    );
    return [name, await answer] as const;
  });
  return Object.fromEntries(await Promise.all(answers));
}

const each = (answer: string) => Object.fromEntries(Object.keys(requests).map((name) => [name, answer]));

describe('a request whose commit no standby confirms', () => {
  it('is refused while the standby is frozen, and answered once it is thawed', async () => {
    const { accountStore } = openNode(await newDatabase(pair.primary), { deadlineMs: 1000 });
    await accountStore.current();
    pair.standby.pause();
    try {
      expect(await answersOf(accountStore)).toEqual(each(refusal));
    } finally {
      pair.standby.resume();
    }
    await accountStore.start();
    const heals = { interval: 50 };
    await vi.waitFor(async () => expect(await answersOf(accountStore)).toEqual(each('answered')), heals);
  });

  it('is refused by a node that reaches only an old primary without the changes of the new one', async () => {
    const url = await newDatabase(pair.primary);
    const { accountStore } = openNode(url, { deadlineMs: 1000 });
    await accountStore.change((draft) => put(draft, 'numbers', 'token', 1));
    await accountStore.current();
    await pair.promote();
    await pair.beAlone();
    const other = openNode(pair.primary.url(new URL(url).pathname.slice(1)));
    await other.accountStore.change((draft) => draft.remove('numbers', 'token'));
    expect(await answersOf(accountStore)).toEqual(each(refusal));
    expect(read(accountStore, 'numbers', 'token')).toBe(1); // An answer would have accepted the removed token.
  });
});
