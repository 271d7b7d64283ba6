import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { afterAll, expect } from 'vitest';
import { openPrepared, prepareData } from '../../src/accounts/prepare.ts';
import { initEngine } from '../../src/replication/accounts/init-engine.ts';
import { joinEngine } from '../../src/replication/accounts/join-engine.ts';
import { EngineKey } from '../../src/replication/postgres/engine-key.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import type { AccountStore } from '../../src/storage/lmdb/accounts.ts';
import { readCopyState } from '../../src/storage/lmdb/copy-state.ts';
import { needing } from '../support/needing.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { closeSharedServer, connect, newEngine, sharedServer, testLog } from './store/postgres-fixture.ts';

const { describe, test } = needing('postgresql');

afterAll(closeSharedServer);

const wanted = { adminEmail: 'ada@example.com', clock: systemClock, randomBytes };

/** An engine as `flagmeter engine init` makes it. */
async function initialised(key?: EngineKey): Promise<string> {
  const url = await (await sharedServer()).database();
  await initEngine(connect(url), { key, wanted });
  return url;
}

function joining(url: string, key?: EngineKey) {
  return { connection: connect(url), key, log: testLog(), pause: async () => false };
}

function usersOf({ users }: AccountStore): string[] {
  return Array.from(users.getRange(), ({ value }) => value.email);
}

describe('an empty data directory', () => {
  test('is filled from PostgreSQL, and then opens without it', async () => {
    const data = temporaryDirectory();
    const url = await initialised();
    const first = (await joinEngine(data, joining(url)))!;
    expect(usersOf(first)).toEqual(['ada@example.com']);
    expect(readCopyState(first.lmdb)).toMatchObject({ version: 1, lossOpen: false });
    await first.lmdb.close();
    const away = joining(url.replace(/:\d+\//, ':1/'));
    const again = (await joinEngine(data, away))!;
    expect(usersOf(again)).toEqual(['ada@example.com']);
    expect(away.log.lines.join('\n')).toContain('counting begins');
    await again.lmdb.close();
  });

  test('waits for PostgreSQL, and remains empty if the process is stopped', async () => {
    const data = temporaryDirectory();
    const away = joining((await initialised()).replace(/:\d+\//, ':1/'));
    expect(await joinEngine(data, away)).toBeUndefined();
    expect(readdirSync(data)).toEqual([]);
    expect(away.log.lines.join('\n')).toContain('begins once the engine answers');
  });

  test('fails at once if the URL is wrong, but starts if already filled', async () => {
    const data = temporaryDirectory();
    const url = await initialised();
    const wrong = joining(url.replace(/\/test_\w+/, '/none'));
    await expect(joinEngine(data, wrong)).rejects.toThrow('has no database "none"');
    expect(readdirSync(data)).toEqual([]);
    await (await joinEngine(data, joining(url)))!.lmdb.close();
    await (await joinEngine(data, wrong))!.lmdb.close();
    expect(wrong.log.lines.join('\n')).toContain('counting begins');
  });

  test('is not filled from a database without accounts', async () => {
    const data = temporaryDirectory();
    const url = await newEngine(await sharedServer());
    await expect(joinEngine(data, joining(url))).rejects.toThrow('flagmeter engine init');
    expect(readdirSync(data)).toEqual([]);
  });

  test('is not filled without the right key file', async () => {
    const url = await initialised(new EngineKey(randomBytes(32)));
    for (const key of [undefined, new EngineKey(randomBytes(32))]) {
      const data = temporaryDirectory();
      await expect(joinEngine(data, joining(url, key))).rejects.toThrow('--engine-key-file');
      expect(existsSync(`${data}/accounts`)).toBe(false);
    }
  });
});

test('each node has the private part of a signing key, and PostgreSQL does not', async () => {
  const key = new EngineKey(randomBytes(32));
  const url = await initialised(key);
  const accounts = (await joinEngine(temporaryDirectory(), joining(url, key)))!;
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

describe('a data directory is refused', () => {
  test('that belongs to a single machine', async () => {
    const data = temporaryDirectory();
    await prepareData(data, wanted);
    await expect(joinEngine(data, joining(await initialised()))).rejects.toThrow('flagmeter engine adopt');
    const store = (await openPrepared(data))!;
    expect(readCopyState(store.lmdb)).toBeUndefined();
    await store.lmdb.close();
  });

  test('that was used with another database', async () => {
    const data = temporaryDirectory();
    await (await joinEngine(data, joining(await initialised())))!.lmdb.close();
    await expect(joinEngine(data, joining(await initialised()))).rejects.toThrow('another engine');
  });

  test('without PostgreSQL, once it was used with it', async () => {
    const data = temporaryDirectory();
    await (await joinEngine(data, joining(await initialised())))!.lmdb.close();
    await expect(openPrepared(data)).rejects.toThrow('pass the --engine that it was used with');
  });
});
