import { describe, expect, test } from 'vitest';
import type { Transaction, Write } from '../../../src/accounts/store/account-store.ts';
import { currentSpan, inSpan, type Span } from '../../../src/runtime/spans.ts';
import { type AccountStoreFixture, count, put, read, tables } from './fixture.ts';

/** LMDB's error for a commit on a full disk. */
const diskError = Object.assign(new Error('No space left on device'), { code: 28 });
const unavailable = { code: 'store_unavailable', status: 503, retryAfter: 5 };

/** Returns the state of each promise at the next iteration of the event loop. */
async function readStates(promises: readonly Promise<unknown>[]): Promise<readonly string[]> {
  const ended = promises.map((promise) => {
    const state = { outcome: 'pending' };
    const end = (result: string) => () => {
      state.outcome = result;
    };
    promise.then(end('kept'), end('refused'));
    return state;
  });
  await new Promise((resolve) => setImmediate(resolve));
  return ended.map(({ outcome }) => outcome);
}

/** A span whose children have the same `traceparent`. */
function span(traceparent: string): Span {
  return { traceparent, startChild: () => span(traceparent), end: () => {} };
}

/** Tests the behaviour that all account stores share. */
export function testAccountStore(name: string, open: () => Promise<AccountStoreFixture>): void {
  describe(`${name}: changes`, () => {
    test.each(tables)('each change sees the pending writes of earlier changes to the table %s', async (table) => {
      const { accountStore, hold, reopen } = await open();
      const release = hold();
      const changes = [1, 2, 3, 4].map(() => accountStore.change((tx) => count(tx, table)));
      release();
      expect(await Promise.all(changes)).toEqual([0, 1, 2, 3]);
      expect(read(accountStore, table, 'n')).toBe(4);
      expect(read(reopen(), table, 'n')).toBe(4);
    });

    test('each change uses the trace span of its own request, even in a shared commit', async () => {
      const { accountStore, hold } = await open();
      const release = hold();
      const spans = [span('a'), undefined, span('b'), undefined];
      const changes = spans.map((one) =>
        inSpan(one, () =>
          accountStore.change((tx) => {
            count(tx);
            return currentSpan()?.traceparent;
          }),
        ),
      );
      release();
      expect(await Promise.all(changes)).toEqual(['a', undefined, 'b', undefined]);
    });

    test('a change reads its own writes', async () => {
      const { accountStore } = await open();
      const found = await accountStore.change((tx) => {
        put(tx, 'numbers', 'a', 1);
        put(tx, 'loginThrottles', 'b', 2);
        tx.remove('numbers', 'a');
        return [tx.get('numbers', 'a'), tx.has('numbers', 'a'), read(tx, 'loginThrottles', 'b')];
      });
      expect(found).toEqual([undefined, false, 2]);
    });

    test('a change that throws writes nothing, and does not affect other changes in its commit', async () => {
      const { accountStore, hold, health, reopen } = await open();
      const release = hold();
      const changes = [
        accountStore.change((tx) => count(tx)),
        accountStore.change((tx) => {
          count(tx);
          put(tx, 'loginThrottles', 'x', 1);
          throw new Error('on second thought');
        }),
        accountStore.change((tx) => put(tx, 'numbers', 'x'.repeat(5000), 1)),
        accountStore.change((tx) => count(tx)),
      ];
      const ended = Promise.allSettled(changes);
      release();
      expect(await ended).toMatchObject([
        { value: 0 },
        { reason: { message: 'on second thought' } },
        { reason: { message: expect.stringContaining('Key size') } },
        { value: 1 },
      ]);
      expect(health.failures).toEqual([]);
      for (const reader of [accountStore, reopen()]) {
        expect(read(reader, 'numbers', 'n')).toBe(2);
        expect(reader.has('loginThrottles', 'x')).toBe(false);
      }
    });

    test.each(tables)(
      'exactly one of many concurrent compare-and-set changes of the table %s succeeds',
      async (table) => {
        const { accountStore } = await open();
        await accountStore.change((tx) => put(tx, table, 'token', 1));
        const spend = (tx: Transaction) => {
          if (!tx.has(table, 'token')) return 'refused';
          tx.remove(table, 'token');
          return 'exchanged';
        };
        const results = await Promise.all(Array.from({ length: 20 }, () => accountStore.change(spend)));
        expect(results).toEqual(['exchanged', ...Array.from({ length: 19 }, () => 'refused')]);
      },
    );
  });

  describe(`${name}: readers`, () => {
    test.each(tables)('readers see a change of the table %s only after the change is on disk', async (table) => {
      const { accountStore, hold } = await open();
      const records = accountStore.records('numbers');
      const seen = () => [
        read(accountStore, table, 'n'),
        accountStore.has(table, 'n'),
        [...accountStore.keys(table, { start: 'a', end: 'z' })],
        records.get('n'),
      ];
      const heard: (readonly Write[])[] = [];
      accountStore.onCommit((writes) => void heard.push(writes));
      const release = hold();
      const change = accountStore.change((tx) => put(tx, table, 'n', 7));
      expect(await readStates([change])).toEqual(['pending']);
      expect(seen()).toEqual([undefined, false, [], undefined]);
      expect(heard).toEqual([]);
      release();
      await change;
      expect(seen()).toEqual([7, true, ['n'], table === 'numbers' ? 7 : undefined]);
      expect(heard.flat()).toMatchObject([{ table, key: 'n' }]);
    });

    test('readers see a change as soon as its call resolves, even if they had read the record earlier', async () => {
      const { accountStore } = await open();
      for (let round = 0; round < 50; round += 1) {
        const change = accountStore.change((tx) => put(tx, 'loginThrottles', `${round}`, round));
        expect(accountStore.has('loginThrottles', 'never')).toBe(false);
        expect(await change.then(() => read(accountStore, 'loginThrottles', `${round}`))).toBe(round);
      }
    });

    test('listeners receive a change before its call resolves', async () => {
      const { accountStore } = await open();
      const order: string[] = [];
      accountStore.onCommit(() => void order.push('heard'));
      await accountStore.change((tx) => count(tx)).then(() => order.push('answered'));
      expect(order).toEqual(['heard', 'answered']);
    });

    test('a change without writes resolves only after the records that it read are on disk', async () => {
      const { accountStore, hold } = await open();
      const release = hold();
      const changes = [
        accountStore.change((tx) => put(tx, 'numbers', 'n', 1)),
        accountStore.change((tx) => tx.get('numbers', 'n')),
        accountStore.change((tx) => {
          if (tx.has('numbers', 'n')) throw new Error('taken');
        }),
      ];
      expect(await readStates(changes)).toEqual(['pending', 'pending', 'pending']);
      const ended = Promise.allSettled(changes);
      release();
      expect(await ended).toMatchObject([{}, { value: 1 }, { reason: { message: 'taken' } }]);
      expect(await accountStore.change((tx) => tx.get('numbers', 'n'))).toBe(1);
    });
  });

  describe(`${name}: a commit`, () => {
    test('a commit includes all changes that waited for the previous commit', async () => {
      const { accountStore, hold, commits } = await open();
      const before = commits();
      const release = hold();
      const changes = Array.from({ length: 100 }, () => accountStore.change((tx) => count(tx)));
      expect(new Set(await readStates(changes))).toEqual(new Set(['pending']));
      release();
      await Promise.all(changes);
      expect(commits() - before).toBeLessThanOrEqual(2);
    });

    test('the calls of changes that share a commit resolve in the order of the changes', async () => {
      const { accountStore } = await open();
      const completed: number[] = [];
      const changes = Array.from({ length: 50 }, async (_, round) => {
        await accountStore.change((tx) => (round % 3 === 0 ? tx.has('numbers', 'n') : count(tx)));
        completed.push(round);
      });
      await Promise.all(changes);
      expect(completed).toEqual(changes.map((_, round) => round));
    });

    test('a failed commit also rejects the changes that wait for the next commit, and writes nothing', async () => {
      const { accountStore, hold, failNext, health, reopen, refusal, listFailures } = await open();
      await accountStore.change((tx) => put(tx, 'numbers', 'n', 1));
      const release = hold();
      failNext(diskError);
      const ended = Promise.allSettled([
        accountStore.change((tx) => count(tx)),
        accountStore.change((tx) => count(tx, 'loginThrottles', 'other')),
        accountStore.change((tx) => tx.get('numbers', 'n')),
        accountStore.change((tx) => {
          throw new Error(`it is ${tx.get('numbers', 'n')}`);
        }),
      ]);
      release();
      for (const each of await ended) expect(each).toMatchObject({ reason: refusal });
      expect(health.failures).toEqual(listFailures(diskError));
      for (const reader of [accountStore, reopen()]) {
        expect(read(reader, 'numbers', 'n')).toBe(1);
        expect(reader.has('loginThrottles', 'other')).toBe(false);
      }
      expect(await accountStore.change((tx) => count(tx))).toBe(1);
    });

    test('a commit is not attempted while the store rejects writes', async () => {
      const { accountStore, health, commits } = await open();
      const before = commits();
      health.ready = false;
      await expect(accountStore.change((tx) => count(tx))).rejects.toMatchObject(unavailable);
      expect(await accountStore.change((tx) => tx.has('numbers', 'n'))).toBe(false);
      health.ready = true;
      expect(await accountStore.change((tx) => count(tx))).toBe(0);
      expect(commits() - before).toBe(1);
    });

    test('the number of changes that wait for a commit is bounded', async () => {
      const { accountStore, hold } = await open();
      const release = hold();
      const changes = Array.from({ length: 10_010 }, () => accountStore.change((tx) => count(tx)));
      const ended = Promise.allSettled(changes);
      release();
      const refused = (await ended).filter(({ status }) => status === 'rejected');
      expect(refused.length).toBeGreaterThan(0);
      for (const each of refused) expect(each).toMatchObject({ reason: { code: 'backpressure' } });
      expect(read(accountStore, 'numbers', 'n')).toBe(changes.length - refused.length);
    });
  });

  test(`${name}: closing commits the waiting changes, and rejects later changes`, async () => {
    const { accountStore, hold, reopen, refusal } = await open();
    const release = hold();
    const changes = Array.from({ length: 10 }, () => accountStore.change((tx) => count(tx)));
    const closed = accountStore.close();
    const ended = Promise.allSettled([accountStore.change((tx) => count(tx))]);
    release();
    await closed;
    expect(await Promise.all(changes)).toHaveLength(10);
    expect(await ended).toMatchObject([{ reason: refusal }]);
    expect(read(reopen(), 'numbers', 'n')).toBe(10);
  });
}
