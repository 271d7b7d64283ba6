import { beforeEach, expect, onTestFinished } from 'vitest';
import type { Connection } from '../../../src/replication/postgres/connection.ts';
import { needing } from '../../support/needing.ts';
import { opened } from '../../support/opened.ts';
import { Postgres } from '../../support/postgres.ts';
import { connect } from './fixture.ts';
import { relayTo } from './relay.ts';

const { describe, it } = needing('postgresql');

const postgres = opened(() => Postgres.shared());
let url: string;
beforeEach(async () => {
  url = await postgres.database();
});

const sql = (text: string, ...values: (string | number | bigint | Uint8Array)[]) => ({ text, values });
const create = { text: 'CREATE TABLE t (a int8 PRIMARY KEY, b bytea)' };

async function table(): Promise<Connection> {
  const connection = connect(url);
  await connection.query(create);
  return connection;
}

const rows = async (connection: Connection) =>
  (await connection.query<{ a: bigint }>(sql('SELECT a FROM t ORDER BY a'))).rows.map(({ a }) => Number(a));

describe('a statement', () => {
  it('a statement returns int8 exactly, and bytes unchanged', async () => {
    const connection = await table();
    const bytes = Buffer.from([0, 255, 92, 39, 10]);
    const a = 2n ** 62n + 1n;
    await connection.query({ name: 'put', text: 'INSERT INTO t VALUES ($1, $2)', values: [a, bytes] });
    await connection.query({ name: 'put', text: 'INSERT INTO t VALUES ($1, $2)', values: [-7, null] });
    const { rows, rowCount } = await connection.query(sql('SELECT * FROM t ORDER BY a DESC'));
    expect(rows).toEqual([
      { a, b: bytes },
      { a: -7n, b: null },
    ]);
    expect(rowCount).toBe(2);
  });

  it('a rejected statement fails with its SQLSTATE, and the session continues', async () => {
    const connection = await table();
    const results = await Promise.allSettled([
      connection.query(sql('INSERT INTO t VALUES (1)')),
      connection.query({ name: 'again', text: 'INSERT INTO t VALUES ($1)', values: [1] }),
      connection.query(sql('SELECT count(*) FROM t')),
    ]);
    expect(results).toMatchObject([
      { value: { rowCount: 1 } },
      { reason: { code: 'sql', sqlstate: '23505' } },
      { value: { rows: [{ count: 1n }] } },
    ]);
    expect(await rows(connection)).toEqual([1]);
  });

  it('a statement runs in a session with synchronous commits and lock timeouts', async () => {
    for (const each of [
      'synchronous_commit = off',
      "statement_timeout = '1s'",
      "idle_session_timeout = '1s'",
      "DateStyle = 'SQL, DMY'",
      "TimeZone = 'Asia/Kathmandu'",
      'extra_float_digits = -10',
    ])
      await postgres.query(`ALTER ROLE postgres SET ${each}`);
    onTestFinished(() => postgres.query('ALTER ROLE postgres RESET ALL').then(() => {}));
    const connection = connect(url);
    const setting = async (name: string) =>
      (await connection.query<{ value: string }>(sql('SELECT current_setting($1) AS value', name))).rows[0]?.value;
    expect(await setting('synchronous_commit')).toBe('on');
    expect(await setting('lock_timeout')).toBe('5s');
    expect(await setting('idle_in_transaction_session_timeout')).toBe('5s');
    expect(await setting('statement_timeout')).toBe('0');
    expect(await setting('idle_session_timeout')).toBe('0');
    expect(await setting('application_name')).toBe('test');
    const { rows: read } = await connection.query(
      sql('SELECT to_timestamp(1793000000.125) AS at, 1793000000125::float8 AS ms'),
    );
    expect(read).toEqual([{ at: new Date(1_793_000_000_125), ms: 1_793_000_000_125 }]);
  });
});

describe('a transaction', () => {
  it('a transaction keeps either all of its changes or no change', async () => {
    const connection = await table();
    const kept = await connection.transaction(async (run) => {
      await run(sql('INSERT INTO t VALUES (1)'));
      return (await run<{ a: bigint }>(sql('INSERT INTO t VALUES (2) RETURNING a'))).rows[0]?.a;
    });
    expect(kept).toBe(2n);
    const failing = connection.transaction(async (run) => {
      await run(sql('INSERT INTO t VALUES (3)'));
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await rows(connection)).toEqual([1, 2]);
  });

  it.each([
    ['that its callback awaits', async (fail: () => Promise<unknown>) => void (await fail())],
    ['that its callback does not await', (fail: () => Promise<unknown>) => void fail()],
    ['whose error its callback ignores', (fail: () => Promise<unknown>) => fail().catch(() => {})],
  ])('a transaction fails with a failing statement %s', async (_, fail) => {
    const connection = await table();
    const failing = connection.transaction(async (run) => {
      await run(sql('INSERT INTO t VALUES (1)'));
      await fail(() => run(sql('INSERT INTO t VALUES (1)')));
    });
    await expect(failing).rejects.toMatchObject({ code: 'sql', sqlstate: '23505' });
    expect(await rows(connection)).toEqual([]);
  });

  it('a transaction fails if COMMIT is rejected', async () => {
    const connection = connect(url);
    await connection.query({ text: 'CREATE TABLE t (a int8 UNIQUE DEFERRABLE INITIALLY DEFERRED)' });
    const failing = connection.transaction((run) => run(sql('INSERT INTO t VALUES (1), (1)')));
    await expect(failing).rejects.toMatchObject({ code: 'sql', sqlstate: '23505' });
  });

  it('a transaction never mixes with another transaction or with single statements', async () => {
    const connection = await table();
    const order: string[] = [];
    const one = async (name: string, a: number) =>
      connection.transaction(async (run) => {
        order.push(`${name} begins`);
        await run(sql('INSERT INTO t VALUES ($1)', a));
        await run(sql('SELECT 1'));
        if (name === 'b') throw new Error('no');
        order.push(`${name} ends`);
      });
    const all = [one('a', 1), one('b', 2), connection.query(sql('INSERT INTO t VALUES (9)')), one('c', 3)];
    await Promise.allSettled(all);
    expect(order).toEqual(['a begins', 'a ends', 'b begins', 'c begins', 'c ends']);
    expect(await rows(connection)).toEqual([1, 3, 9]);
  });
});

it('a transaction waits for the running transaction, even if a transaction between them has timed out', async () => {
  const connection = await table();
  let end = () => {};
  const first = connection.transaction(async (run) => {
    await run(sql('INSERT INTO t VALUES (1)'));
    await new Promise<void>((resolve) => {
      end = resolve;
    });
    throw new Error('rolled back');
  });
  const second = connection.transaction((run) => run(sql('INSERT INTO t VALUES (2)')), 50);
  await expect(second).rejects.toMatchObject({ code: 'deadline' });
  const third = connection.transaction((run) => run(sql('INSERT INTO t VALUES (3)')));
  await postgres.query('SELECT 1');
  end();
  await expect(first).rejects.toThrow('rolled back');
  await third;
  expect(await rows(connection)).toEqual([3]);
});

describe('a connection', () => {
  /** Starts a relay that counts round trips to the server. In a round trip, a client sends and the server responds. */
  async function counting(): Promise<{ url: string; roundTrips: () => number }> {
    let roundTrips = 0;
    let hasServerSpoken = false;
    const relayed = await relayTo(postgres, url, () => ({
      fromClient: (_, pass) => {
        if (!hasServerSpoken) roundTrips += 1;
        hasServerSpoken = true;
        pass();
      },
      fromServer: (_, pass) => {
        hasServerSpoken = false;
        pass();
      },
    }));
    return { url: relayed, roundTrips: () => roundTrips };
  }

  it('a connection uses one round trip for each awaited step', async () => {
    await table();
    const { url: slow, roundTrips } = await counting();
    const connection = connect(slow);
    await connection.query(sql('SELECT 1'));
    const during = async (work: () => Promise<unknown>) => {
      const before = roundTrips();
      await work();
      return roundTrips() - before;
    };
    const insert = { name: 'insert', text: 'INSERT INTO t VALUES ($1)' };
    expect(
      await during(() =>
        connection.transaction((run) => {
          for (const a of [1, 2, 3]) void run({ ...insert, values: [a] });
        }),
      ),
    ).toBe(1);
    expect(
      await during(() =>
        connection.transaction(async (run) => {
          await Promise.all([run(sql('SELECT 1')), run(sql('SELECT a FROM t FOR UPDATE'))]);
          void run({ ...insert, values: [4] });
        }),
      ),
    ).toBe(2);
    expect(await during(() => Promise.all([1, 2, 3].map(() => connection.query(sql('SELECT 1')))))).toBe(1);
    expect(await rows(connection)).toEqual([1, 2, 3, 4]);
  });
});
