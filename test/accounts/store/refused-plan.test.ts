import { expect } from 'vitest';
import { cuttingRelay } from '../../replication/postgres/relay.ts';
import { needing } from '../../support/needing.ts';
import { count, put, read } from './fixture.ts';
import { newDatabase, openNode, sharedServer } from './postgres-fixture.ts';

const { describe, test } = needing('postgresql');

/** Creates a database that rejects records whose key contains `bad`. */
async function strictPostgres(): Promise<string> {
  const postgres = await sharedServer();
  const url = await newDatabase(postgres);
  const rule = `ALTER TABLE fm_record ADD CONSTRAINT good CHECK (key NOT LIKE '%bad%')`;
  await postgres.query(rule, [], url);
  return url;
}

describe('a change whose write PostgreSQL rejects', () => {
  test('a change that PostgreSQL rejects fails, and the other changes of its transaction succeed in order', async () => {
    const { accountStore, log } = openNode(await strictPostgres());
    const changes = Array.from({ length: 30 }, (_, at) =>
      accountStore.change((tx) => {
        if (at % 10 === 7) put(tx, 'numbers', `bad ${at}`, 1);
        return count(tx);
      }),
    );
    const results = await Promise.allSettled(changes);
    const refused = results.flatMap(({ status }, at) => (status === 'rejected' ? [at] : []));
    expect(refused).toEqual([7, 17, 27]);
    const made = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(made).toEqual(made.map((_, at) => at));
    expect(results[7]).toMatchObject({ reason: { code: 'postgres_unavailable', status: 503 } });
    expect(log.lines.filter((line) => line.includes('rejected one change'))).toHaveLength(3);
    expect(log.lines.join()).toContain('"sqlstate":"23514"');
    expect(accountStore.status().trouble).toBeUndefined();
    expect(await accountStore.change((tx) => count(tx))).toBe(27);
    expect(read(accountStore, 'numbers', 'n')).toBe(28);
  });

  test('a change whose commit got no response is not repeated, even if PostgreSQL rejects a later change', async () => {
    const relay = await cuttingRelay(await sharedServer(), await strictPostgres(), 'fm_control_write');
    const { accountStore } = openNode(relay.url);
    await accountStore.change(() => undefined);
    relay.loseNextCommit();
    const first = [accountStore.change((tx) => count(tx)), accountStore.change((tx) => count(tx))];
    while (relay.lost === 0) await accountStore.current();
    const then = await Promise.allSettled([
      accountStore.change((tx) => put(tx, 'numbers', 'bad', 1)),
      accountStore.change((tx) => count(tx)),
    ]);
    expect(await Promise.all(first)).toEqual([0, 1]);
    expect(then).toMatchObject([{ status: 'rejected' }, { status: 'fulfilled', value: 2 }]);
    expect(read(accountStore, 'numbers', 'n')).toBe(3);
  });
});
