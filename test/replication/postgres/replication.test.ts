import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  parseSynchronousStandbys,
  readReplication,
  whyCommitsMayBeLost,
} from '../../../src/replication/postgres/replication.ts';
import { needing } from '../../support/needing.ts';
import { Postgres } from '../../support/postgres.ts';
import { type PostgresPair, primaryAndStandby } from '../../support/postgres-pair.ts';
import { connect } from './fixture.ts';

/** Accepted values, each with the number of needed confirmations, the names, and true if no promotion loses commits. */
const accepted: [value: string, needed: number, names: string[], isSafe: boolean][] = [
  ['a', 1, ['a'], true],
  ['"a"', 1, ['a'], true],
  ['A', 1, ['a'], true],
  ['a, b', 1, ['a', 'b'], false],
  ['a,A', 1, ['a', 'a'], true],
  ['FIRST 1 (a)', 1, ['a'], true],
  ['FIRST 1 (a, b)', 1, ['a', 'b'], false],
  ['first 2 (a, b)', 2, ['a', 'b'], true],
  ['FIRST 2 (a, b, c)', 2, ['a', 'b', 'c'], false],
  ['ANY 1 (a)', 1, ['a'], true],
  ['ANY 1 (a, b)', 1, ['a', 'b'], false],
  ['any\t1\f(a,b)', 1, ['a', 'b'], false],
  ['ANY 2 (a, b)', 2, ['a', 'b'], true],
  ['ANY 2 (a, b, c)', 2, ['a', 'b', 'c'], false],
  ['ANY 3 (a, b, c)', 3, ['a', 'b', 'c'], true],
  ['ANY 3 (a, b)', 3, ['a', 'b'], true],
  ['ANY1, b', 1, ['any1', 'b'], false],
  ['1 (a)', 1, ['a'], true],
  ['1 (a, b)', 1, ['a', 'b'], false],
  ['2(a,b)', 2, ['a', 'b'], true],
  ['02 (a, b)', 2, ['a', 'b'], true],
  ['1, 2', 1, ['1', '2'], false],
  ['7', 1, ['7'], true],
  ['ANY 1 (1)', 1, ['1'], true],
  ['*', 1, ['*'], false],
  ['"*"', 1, ['*'], false],
  ['FIRST 1 (*)', 1, ['*'], false],
  ['ANY 1 ("*")', 1, ['*'], false],
  ['ANY 2 (a, *)', 2, ['a', '*'], false],
  ['"any"', 1, ['any'], true],
  ['"a, b"', 1, ['a, b'], true],
  ['ANY 1 ("a) , (b")', 1, ['a) , (b'], true],
  ['"say ""hi""", b', 1, ['say "hi"', 'b'], false],
  ['""', 1, [''], true],
  ['_a$1, ä', 1, ['_a$1', 'ä'], false],
  ['ANY 2 (self, a, b)', 2, ['self', 'a', 'b'], true],
  ['ANY 1 (SELF, a, b)', 1, ['self', 'a', 'b'], false],
  ['FIRST 1 ("Self", a)', 1, ['self', 'a'], true],
];

const refused = [
  ...['any', 'first, a', 'ANY 0 (a)', '0 (a)', 'ANY 1 a', 'ANY (a)', 'a b', 'a,', ',a', '(a)', '1 ()', 'a-b', '"a'],
  ...['ANY 1 (a) b', 'FIRST 1 (a', 'ANY 1 ((a))', '2 3 (a)', 'ANY "1" (a)', "'a'", 'ANY 1 (any)', '"1" (a)'],
];

it.each(accepted)('parseSynchronousStandbys parses the setting %j', (value, needed, names, isSafe) => {
  expect(parseSynchronousStandbys(value)).toEqual({ needed, names });
  const replication = { synchronousStandbys: value, clusterName: 'self', standbys: [] };
  expect(whyCommitsMayBeLost(replication) === undefined).toBe(isSafe);
});

it.each(refused)('parseSynchronousStandbys rejects the setting %j, which PostgreSQL rejects as well', (value) => {
  expect(parseSynchronousStandbys(value)).toBeUndefined();
  const replication = { synchronousStandbys: value, clusterName: '', standbys: [] };
  expect(whyCommitsMayBeLost(replication)).toContain('cannot be read');
});

it('the check of synchronous standbys counts equal names, and ignores the name of the primary', () => {
  const why = (synchronousStandbys: string, ...names: string[]) =>
    whyCommitsMayBeLost({
      synchronousStandbys,
      clusterName: 'self',
      standbys: names.map((name) => ({ name, state: 'sync' })),
    });
  expect(why('walreceiver', 'walreceiver')).toBeUndefined();
  expect(why('walreceiver', 'walreceiver', 'WalReceiver')).toContain('needs 1 of 2 standbys');
  expect(why('a', 'a', 'b', 'c')).toBeUndefined();
  expect(why('ANY 1 (self, a)', 'a')).toBeUndefined();
  expect(why('ANY 1 (self, a)', 'a', 'self')).toContain('needs 1 of 2 standbys');
});

it('the warning about a Patroni quorum recommends the setting synchronous_mode', () => {
  const why = (synchronousStandbys: string) =>
    whyCommitsMayBeLost({ synchronousStandbys, clusterName: 'a', standbys: [] });
  expect(why('ANY 1 (b,c)')).toContain('set synchronous_mode to true instead of quorum');
  expect(why('b, c')).not.toContain('Patroni');
});

const { describe, it: itWith } = needing('postgresql');

describe('the replication of a PostgreSQL', () => {
  let postgres: Postgres;
  let pair: PostgresPair;
  beforeAll(async () => {
    [postgres, pair] = await Promise.all([Postgres.start(), primaryAndStandby()]);
  });
  afterAll(async () => {
    await Promise.all([postgres.close(), pair.close()]);
  });

  const set = (value: string) =>
    postgres.query(`ALTER SYSTEM SET synchronous_standby_names = '${value.replaceAll("'", "''")}'`);

  itWith('PostgreSQL accepts and refuses the same values of synchronous_standby_names', async () => {
    for (const [value] of accepted) await set(value);
    const results = await Promise.allSettled(refused.map(set));
    expect(refused.filter((_, at) => results[at]?.status === 'fulfilled')).toEqual([]);
    await postgres.query('ALTER SYSTEM RESET synchronous_standby_names');
  });

  itWith('PostgreSQL waits for a standby whose name matches synchronous_standby_names', async () => {
    const { primary, standby } = pair;
    const [{ name = '' } = {}] = await primary.query<{ name: string }>(
      'SELECT application_name AS name FROM pg_stat_replication',
    );
    const confirms = async (value: string) => {
      primary.set({ synchronous_standby_names: `'${value}'` });
      await primary.reload();
      await expect
        .poll(() => primary.query('SHOW synchronous_standby_names'))
        .toEqual([{ synchronous_standby_names: value }]);
      const states = () => primary.query<{ state: string }>('SELECT sync_state AS state FROM pg_stat_replication');
      await expect.poll(async () => (await states()).length).toBe(1);
      return (await states())[0]?.state;
    };
    expect(await confirms('other')).toBe('async');
    expect(await confirms(name.toUpperCase())).toBe('sync');
    expect(await confirms(`ANY 1 (other, "${name.toUpperCase()}")`)).toBe('quorum');
    expect(await confirms('ANY 1 ("*")')).toBe('quorum');
    expect(await confirms('other, *')).toBe('sync');
    await pair.beSynchronous();
    expect(standby.isRunning).toBe(true);
  });

  itWith('a role without privileges sees the standbys, but no base backups and logical subscribers', async () => {
    const url = await pair.database();
    await pair.primary.query('CREATE ROLE plain LOGIN');
    const asPlain = connect(url.replace('postgres@', 'plain@'));
    const read = () => readReplication((statement) => asPlain.query(statement));
    const { standbys, ...more } = await read();
    expect(more).toEqual({ synchronousStandbys: `FIRST 1 (standby_${pair.standby.port})`, clusterName: '' });
    expect(standbys).toEqual([{ name: `standby_${pair.standby.port}`, state: null }]);
    await pair.beAlone();
    await expect.poll(async () => whyCommitsMayBeLost(await read())).toContain('synchronous_standby_names is empty');
    await pair.beSynchronous();
  });
});
