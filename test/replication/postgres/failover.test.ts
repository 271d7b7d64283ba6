import { expect } from 'vitest';
import { needing } from '../../support/needing.ts';
import { opened } from '../../support/opened.ts';
import { primaryAndStandby } from '../../support/postgres-pair.ts';
import { connect, keptLog } from './fixture.ts';

const { it } = needing('postgresql');

const pair = opened(primaryAndStandby);

const select = { text: 'SELECT a FROM t ORDER BY a' };

it('a connection fails if its URL contains only a standby', async () => {
  const connection = connect(pair.standby.url());
  await expect(connection.query({ text: 'SELECT 1' })).rejects.toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining('is a standby, not the primary'),
  });
});

it('a connection finds the new primary after each failover, and no acknowledged row is lost', async () => {
  const url = await pair.database();
  const { log, lines } = keptLog();
  const connection = connect(url.replace(/(?<=connect_timeout=)\d+/, '1'), { log, deadlineMs: 2000 });
  await connection.query({ text: 'CREATE TABLE t (a int8 PRIMARY KEY)' });
  const confirmed: number[] = [];
  const insert = async (a: number) => {
    const text = 'INSERT INTO t VALUES ($1) ON CONFLICT DO NOTHING';
    for (;;) {
      const kept = connection.query({ name: 'insert', text, values: [a] });
      const result = await kept.then(
        () => true,
        () => false,
      );
      if (result) break;
      await new Promise((resolve) => setImmediate(resolve));
    }
    confirmed.push(a);
  };
  for (const a of [1, 2, 3]) await insert(a);
  const [first, second] = [pair.primary, pair.standby].map(({ host, port }) => `${host}:${port}`);
  expect(connection.host).toBe(first);
  const going = insert(4);
  await pair.primary.kill();
  await pair.promote();
  await pair.beAlone();
  await going;
  await insert(5);
  expect(connection.host).toBe(second);
  await pair.rejoin();
  await insert(6);
  await pair.primary.kill();
  await pair.promote();
  await pair.beAlone();
  await insert(7);
  expect(connection.host).toBe(first);
  expect((await connection.query<{ a: bigint }>(select)).rows.map(({ a }) => Number(a))).toEqual(confirmed);
  const hosts = lines.filter(({ msg }) => msg === 'session with PostgreSQL is open').map(({ host }) => host);
  expect(hosts).toEqual([first, second, first]);
});
