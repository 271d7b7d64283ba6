import { afterEach, beforeEach, expect } from 'vitest';
import type { Connection } from '../../../src/replication/postgres/connection.ts';
import { needing } from '../../support/needing.ts';
import { opened } from '../../support/opened.ts';
import { Postgres } from '../../support/postgres.ts';
import { connect, keptLog } from './fixture.ts';

const { describe, it } = needing('postgresql');

const postgres = opened(() => Postgres.start());
let url: string;
beforeEach(async () => {
  url = await postgres.database();
});

const insert = { text: 'INSERT INTO t VALUES (1)' };
const count = { text: 'SELECT count(*) FROM t' };

async function table(): Promise<void> {
  await postgres.query('CREATE TABLE t (a int8)', [], url);
}

/**
 * Returns the number of rows, or the error as text. On a busy machine, a session with a short deadline can need several
 * attempts.
 */
const trySelect = (connection: Connection) =>
  connection.query({ text: 'SELECT 1' }).then(({ rowCount }) => rowCount, String);

const counted = async (connection: Connection) => (await connection.query<{ count: bigint }>(count)).rows[0]?.count;

async function sessions(): Promise<{ pid: number; state: string; wait: string | null }[]> {
  return postgres.query(
    `SELECT pid, state, wait_event AS wait FROM pg_stat_activity
     WHERE application_name = 'test' AND pid <> pg_backend_pid() AND datname = $1`,
    [new URL(url).pathname.slice(1)],
  );
}

async function whenWaiting(event: string): Promise<number> {
  const waiting = async () => (await sessions()).find(({ wait }) => wait === event)?.pid;
  await expect.poll(waiting).toBeDefined();
  return (await waiting()) as number;
}

describe('a lost session', () => {
  it('a lost session reopens at the next call, and both events are logged', async () => {
    const { log, lines } = keptLog();
    const connection = connect(url, { log });
    await connection.query({ text: 'SELECT 1' });
    const [session] = await sessions();
    await postgres.query('SELECT pg_terminate_backend($1)', [session?.pid]);
    await expect.poll(() => connection.host).toBeUndefined();
    expect(lines[1]?.['reason']).toContain('terminating connection');
    expect((await connection.query<{ one: number }>({ text: 'SELECT 1 AS one' })).rows).toEqual([{ one: 1 }]);
    expect(connection.host).toBe(`127.0.0.1:${postgres.port}`);
    expect(lines.map(({ level, msg, sqlstate }) => [level, msg, sqlstate])).toEqual([
      ['info', 'session with PostgreSQL is open', undefined],
      ['warn', 'session with PostgreSQL lost', '57P01'],
      ['info', 'session with PostgreSQL is open', undefined],
    ]);
    expect(lines[1]).toMatchObject({ connection: 'test', next: expect.stringContaining('reconnecting when needed') });
  });

  it('a lost session keeps nothing of an uncommitted transaction', async () => {
    await table();
    const connection = connect(url);
    const lost = connection.transaction(async (run) => {
      await run(insert);
      const [session] = await sessions();
      await postgres.query('SELECT pg_terminate_backend($1)', [session?.pid]);
      await run(insert);
    });
    await expect(lost).rejects.toMatchObject({ code: 'unreachable' });
    expect(await counted(connection)).toBe(0n);
  });

  it('the result of a commit is unknown if the server is killed during the commit', async () => {
    await table();
    const { log, lines } = keptLog();
    const connection = connect(url, { log });
    await connection.query(count);
    postgres.set({ synchronous_standby_names: "'nobody'" });
    await postgres.reload();
    const results = Promise.allSettled([
      connection.transaction((run) => run(insert)),
      connection.query({ text: 'INSERT INTO t VALUES (2)' }),
    ]);
    await whenWaiting('SyncRep');
    await postgres.kill();
    expect(await results).toMatchObject([{ reason: { code: 'unknown_outcome' } }, { status: 'rejected' }]);
    // The second call opens a session, which a server can accept while it is stopping.
    const message = expect.stringMatching(/ECONNREFUSED|ECONNRESET/);
    await expect(connection.query(count)).rejects.toMatchObject({ code: 'unreachable', message });
    expect(lines.at(-1)).toMatchObject({ level: 'warn', msg: 'PostgreSQL is not available', next: expect.any(String) });
    postgres.set({ synchronous_standby_names: "''" });
    await postgres.start();
    // The server had committed, but its standby had not.
    await expect.poll(() => counted(connection).catch(() => undefined)).toBe(1n);
  });
});

describe('a deadline', () => {
  it('a deadline ends a statement both on the client and on the server', async () => {
    const connection = connect(url, { deadlineMs: 300 });
    await expect.poll(() => trySelect(connection)).toBe(1);
    const [session] = await sessions();
    const late = connection.query({ text: 'SELECT pg_sleep(600)' });
    await expect(late).rejects.toMatchObject({ code: 'unknown_outcome', message: expect.stringContaining('300 ms') });
    await expect.poll(async () => (await sessions()).map(({ pid }) => pid)).not.toContain(session?.pid);
    await expect.poll(() => trySelect(connection)).toBe(1);
  });

  it('a transaction whose deadline passes before its commit is sent leaves no changes', async () => {
    await table();
    const connection = connect(url);
    const late = connection.transaction(async (run) => {
      await run(insert);
      await run({ text: 'SELECT pg_sleep(600)' });
    }, 300);
    await expect(late).rejects.toMatchObject({ code: 'deadline' });
    expect(await counted(connection)).toBe(0n);
  });

  it('a deadline ends a transaction whose callback never ends', async () => {
    await table();
    const connection = connect(url);
    const late = connection.transaction(async (run) => {
      await run(insert);
      await new Promise(() => {});
    }, 300);
    await expect(late).rejects.toMatchObject({ code: 'deadline' });
    expect(await counted(connection)).toBe(0n);
  });

  it('the result of a commit is unknown if the deadline passes while the commit waits for a standby', async () => {
    await table();
    postgres.set({ synchronous_standby_names: "'nobody'" });
    await postgres.reload();
    const connection = connect(url, { deadlineMs: 500 });
    // A call sends nothing if its session opens too late.
    const catchCode = (call: () => Promise<unknown>) => () => call().catch(({ code }) => code);
    await expect.poll(catchCode(() => connection.transaction((run) => run(insert)))).toBe('unknown_outcome');
    await expect.poll(catchCode(() => connection.query(insert))).toBe('unknown_outcome');
    await expect.poll(sessions).toEqual([]);
    postgres.set({ synchronous_standby_names: "''" });
    await postgres.reload();
    await expect.poll(() => trySelect(connection)).toBe(1);
    expect(await counted(connection)).toBe(2n);
  });

  it('a call to a paused server fails at its deadline, and later calls succeed once the server continues', async () => {
    const connection = connect(url.replace(/(?<=connect_timeout=)\d+/, '1'), { deadlineMs: 500 });
    await expect.poll(() => trySelect(connection)).toBe(1);
    postgres.pause();
    try {
      await expect(connection.query({ text: 'SELECT 1' })).rejects.toMatchObject({ code: 'unknown_outcome' });
      await expect(connection.query({ text: 'SELECT 1' })).rejects.toMatchObject({ code: 'deadline' });
    } finally {
      postgres.resume();
    }
    await expect.poll(() => trySelect(connection)).toBe(1);
  });
});

describe('a commit that the standby did not confirm', () => {
  afterEach(async () => {
    postgres.set({ synchronous_standby_names: "''" });
    await postgres.reload();
  });

  it.each([
    ['statement', (connection: Connection) => connection.query(insert)],
    ['transaction', (connection: Connection) => connection.transaction((run) => run(insert))],
  ])('the result of a %s is unknown if waiting for the standby is cancelled', async (_, commit) => {
    await table();
    const connection = connect(url);
    await connection.query(count);
    postgres.set({ synchronous_standby_names: "'nobody'" });
    await postgres.reload();
    const committed = commit(connection);
    const after = connection.query(count);
    committed.catch(() => {});
    await postgres.query('SELECT pg_cancel_backend($1)', [await whenWaiting('SyncRep')]);
    await expect(committed).rejects.toMatchObject({ code: 'unknown_outcome', sqlstate: '01000' });
    // The session continues, and the next statement is not affected.
    expect((await after).rows).toEqual([{ count: 1n }]);
  });
});

describe('an unusable PostgreSQL', () => {
  it('a connection to an unreachable PostgreSQL is retried only after a pause', async () => {
    const { log, lines } = keptLog();
    let now = 0;
    const connection = connect(`postgres://u@127.0.0.1:1/d`, { log, clock: { monotonic: () => now } });
    const refused = () => connection.query({ text: 'SELECT 1' }).catch((error: unknown) => error);
    const why = await refused();
    expect(String(why)).toContain('127.0.0.1:1 refused the connection');
    expect(await refused()).toBe(why);
    now += 100;
    expect(await refused()).not.toBe(why);
    // Each reason is logged only once.
    expect(lines).toHaveLength(1);
  });

  it('a connection whose new sessions fail their check rejects each call with the error of the check', async () => {
    const prepare = async () => {
      throw new Error('this is another engine');
    };
    const connection = connect(url, { prepare });
    await expect(connection.query(count)).rejects.toThrow('this is another engine');
    await expect(connection.transaction(() => 1)).rejects.toThrow('this is another engine');
  });

  it('a closed connection rejects all calls', async () => {
    const connection = connect(url);
    await connection.query({ text: 'SELECT 1' });
    await connection.close();
    await expect(connection.query({ text: 'SELECT 1' })).rejects.toMatchObject({ code: 'unreachable' });
    expect(connection.host).toBeUndefined();
    await expect.poll(sessions).toEqual([]);
  });
});
