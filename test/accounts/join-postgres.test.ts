import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { expect } from 'vitest';
import { openPrepared, prepareData } from '../../src/accounts/prepare.ts';
import { initPostgres } from '../../src/replication/accounts/init-postgres.ts';
import { joinPostgres } from '../../src/replication/accounts/join-postgres.ts';
import { PostgresKey } from '../../src/replication/postgres/postgres-key.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { type AccountTables, readCopyState } from '../../src/storage/lmdb/accounts.ts';
import { cheapHash } from '../support/cheap-hash.ts';
import { needing } from '../support/needing.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { connect, newDatabase, sharedServer, testLog } from './store/postgres-fixture.ts';

const { describe, test } = needing('postgresql');

const wanted = { adminEmail: 'ada@example.com', clock: systemClock, randomBytes, hash: cheapHash };

async function initialised(key?: PostgresKey): Promise<string> {
  const url = await (await sharedServer()).database();
  await initPostgres(connect(url), { key, wanted });
  return url;
}

function joining(url: string, key?: PostgresKey) {
  return { connection: connect(url), key, log: testLog(), pause: async () => false };
}

function listUsers({ users }: AccountTables): string[] {
  return Array.from(users.getRange(), ({ value }) => value.email);
}

describe('an empty data directory', () => {
  test('an empty data directory is filled from PostgreSQL, and can then be opened without PostgreSQL', async () => {
    const data = temporaryDirectory();
    const url = await initialised();
    const first = (await joinPostgres(data, joining(url)))!;
    expect(listUsers(first)).toEqual(['ada@example.com']);
    expect(readCopyState(first.lmdb)).toMatchObject({ version: 1, lossOpen: false });
    await first.lmdb.close();
    const away = joining(url.replace(/:\d+\//, ':1/'));
    const again = (await joinPostgres(data, away))!;
    expect(listUsers(again)).toEqual(['ada@example.com']);
    expect(away.log.lines.join('\n')).toContain('counting begins');
    await again.lmdb.close();
  });

  test('a data directory remains empty if the process stops while it waits for PostgreSQL', async () => {
    const data = temporaryDirectory();
    const away = joining((await initialised()).replace(/:\d+\//, ':1/'));
    expect(await joinPostgres(data, away)).toBeUndefined();
    expect(readdirSync(data)).toEqual([]);
    expect(away.log.lines.join('\n')).toContain('starts when PostgreSQL is available');
  });

  test('a node with a wrong PostgreSQL URL starts only if its data directory is already filled', async () => {
    const data = temporaryDirectory();
    const url = await initialised();
    const wrong = joining(url.replace(/\/test_\w+/, '/none'));
    await expect(joinPostgres(data, wrong)).rejects.toThrow('has no database "none"');
    expect(readdirSync(data)).toEqual([]);
    await (await joinPostgres(data, joining(url)))!.lmdb.close();
    await (await joinPostgres(data, wrong))!.lmdb.close();
    expect(wrong.log.lines.join('\n')).toContain('counting begins');
  });

  test('a data directory is not filled from a database without accounts', async () => {
    const data = temporaryDirectory();
    const url = await newDatabase(await sharedServer());
    await expect(joinPostgres(data, joining(url))).rejects.toThrow('flagmeter postgres init');
    expect(readdirSync(data)).toEqual([]);
  });

  test('a data directory is not filled without the right key file', async () => {
    const url = await initialised(new PostgresKey(randomBytes(32)));
    for (const key of [undefined, new PostgresKey(randomBytes(32))]) {
      const data = temporaryDirectory();
      await expect(joinPostgres(data, joining(url, key))).rejects.toThrow('--postgres-key-file');
      expect(existsSync(`${data}/accounts`)).toBe(false);
    }
  });
});

test('each node stores the private part of a signing key, and PostgreSQL does not', async () => {
  const key = new PostgresKey(randomBytes(32));
  const url = await initialised(key);
  const accounts = (await joinPostgres(temporaryDirectory(), joining(url, key)))!;
  const [signingKey] = Array.from(accounts.signingKeys.getRange(), ({ value }) => value);
  const secret = (signingKey as unknown as { privateJwk: { d: string } }).privateJwk.d;
  expect(secret).toMatch(/^[\w-]{40,}$/);
  const postgres = await sharedServer();
  const rows = await postgres.query(
    'SELECT writes AS text FROM fm_change UNION ALL SELECT value FROM fm_record',
    [],
    url,
  );
  expect(JSON.stringify(rows)).toContain(signingKey!.kid);
  expect(JSON.stringify(rows)).not.toContain(secret);
  await accounts.lmdb.close();
});

describe('the data directory of a node', () => {
  async function joined(): Promise<{ readonly data: string; readonly url: string }> {
    const data = temporaryDirectory();
    const url = await initialised();
    await (await joinPostgres(data, joining(url)))!.lmdb.close();
    return { data, url };
  }

  test('a data directory without usage can be opened, because the usage is loaded from PostgreSQL', async () => {
    const { data, url } = await joined();
    rmSync(`${data}/usage`, { recursive: true });
    await (await joinPostgres(data, joining(url)))!.lmdb.close();
  });

  test('the data directory of a node is refused without its spool', async () => {
    const { data, url } = await joined();
    rmSync(`${data}/spool`, { recursive: true });
    await expect(joinPostgres(data, joining(url))).rejects.toThrow(`Cannot open ${data}/spool/data.mdb: it is missing`);
  });

  test('the spool of a node is kept while its accounts and usage are loaded again', async () => {
    const { data, url } = await joined();
    const { ino } = statSync(`${data}/spool/data.mdb`);
    for (const store of ['accounts', 'usage']) rmSync(`${data}/${store}`, { recursive: true });
    await (await joinPostgres(data, joining(url)))!.lmdb.close();
    expect(statSync(`${data}/spool/data.mdb`).ino).toBe(ino);
  });
});

describe('joinPostgres', () => {
  test('joinPostgres refuses the data directory of a single machine', async () => {
    const data = temporaryDirectory();
    await prepareData(data, wanted);
    await expect(joinPostgres(data, joining(await initialised()))).rejects.toThrow('flagmeter postgres adopt');
    const store = (await openPrepared(data))!;
    expect(readCopyState(store.lmdb)).toBeUndefined();
    await store.lmdb.close();
  });

  test('joinPostgres refuses a data directory that was used with another database', async () => {
    const data = temporaryDirectory();
    await (await joinPostgres(data, joining(await initialised())))!.lmdb.close();
    await expect(joinPostgres(data, joining(await initialised()))).rejects.toThrow('another database');
  });

  test('a data directory that was used with PostgreSQL cannot be used without PostgreSQL', async () => {
    const data = temporaryDirectory();
    await (await joinPostgres(data, joining(await initialised())))!.lmdb.close();
    await expect(openPrepared(data)).rejects.toThrow('pass the same --postgres as before');
  });
});
