import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, onTestFinished } from 'vitest';
import { openPrepared, openPreparedOrCopy } from '../../src/accounts/prepare.ts';
import { joinPostgres } from '../../src/replication/accounts/join-postgres.ts';
import { type AdoptionResult, adopt } from '../../src/replication/adoption/adopt.ts';
import { defaultSettings } from '../../src/replication/entry.ts';
import { checkPostgres } from '../../src/replication/postgres/checks.ts';
import { Connection, type PostgresSession } from '../../src/replication/postgres/connection.ts';
import { PostgresKey, readSecret } from '../../src/replication/postgres/postgres-key.ts';
import { parsePostgresUrl } from '../../src/replication/postgres/postgres-url.ts';
import { Replica } from '../../src/replication/replica.ts';
import { snapshotTables } from '../../src/replication/snapshot.ts';
import { Spool } from '../../src/replication/spool.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createLog } from '../../src/runtime/log.ts';
import { accountTables } from '../../src/storage/lmdb/accounts.ts';
import { openDigestSecret } from '../../src/storage/lmdb/instances.ts';
import { transact } from '../../src/storage/lmdb/lmdb.ts';
import { isRemembered, permanentAt, putMessage } from '../../src/storage/lmdb/messages.ts';
import { openReplicaStore } from '../../src/storage/lmdb/usage.ts';
import { unpack } from '../fixtures/stores/unpack.ts';
import { needing } from '../support/needing.ts';
import { Postgres } from '../support/postgres.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { failing } from './failing-connection.ts';

const { describe, test } = needing('postgresql');

let postgres: Postgres;
let url: string;
let data: string;

const key = new PostgresKey(Buffer.alloc(32, 7));
const identity = Buffer.alloc(16, 3);
/** Identity of a section of an import. A section is stored as a permanent message. */
const part = Buffer.alloc(16, 4);
const sentAt = Date.UTC(2026, 0, 1);

beforeAll(async () => {
  postgres = await Postgres.shared();
});
beforeEach(async () => {
  url = await postgres.database();
  data = join(temporaryDirectory(), 'data');
  unpack('layout-2', data);
  const usage = openReplicaStore(data);
  transact(usage.lmdb, () => {
    putMessage(usage, { identity, at: sentAt });
    putMessage(usage, { identity: part, at: permanentAt });
  });
  await usage.lmdb.close();
});

function connect(to = url): Connection {
  const log = createLog('error', () => {}, systemClock);
  const options = { name: 'test', log, clock: systemClock, deadlineMs: 10_000 };
  const connection = new Connection(parsePostgresUrl(to), options);
  onTestFinished(() => connection.close());
  return connection;
}

async function move(connection: PostgresSession = connect(), directory = data): Promise<AdoptionResult> {
  const accounts = (await openPreparedOrCopy(directory))!;
  const deps = { accounts, connection, key, settings: defaultSettings, randomBytes, onPart: () => {} };
  try {
    return await adopt({ ...deps, data: directory });
  } finally {
    await accounts.lmdb.close();
  }
}

type Rows = readonly (readonly [table: string, key: string, value: unknown])[];

async function accountsIn(directory: string): Promise<Rows> {
  const accounts = (await openPreparedOrCopy(directory))!;
  const rows: [string, string, unknown][] = [];
  for (const table of accountTables)
    for (const { key: name, value } of accounts[table].getRange()) rows.push([table, name, structuredClone(value)]);
  await accounts.lmdb.close();
  return rows;
}

/** Reads the counts, without the rows that only a replica has. */
async function usageIn(directory: string): Promise<Rows> {
  const usage = openReplicaStore(directory);
  const tables = snapshotTables.filter((table) => !['replica', 'messageTimes', 'carried'].includes(table));
  const rows = tables.flatMap((table) =>
    Array.from(
      usage[table].getRange(),
      ({ key: name, value }) => [table, name.toString('hex'), value.toString('hex')] as const,
    ),
  );
  await usage.lmdb.close();
  return rows.filter(([table, name]) => table !== 'identities' || name !== Buffer.from('secret').toString('hex'));
}

/** Creates the directory of another node from the database, as `serve --postgres` does. */
async function joinAnother(): Promise<string> {
  const connection = connect();
  const directory = join(temporaryDirectory(), 'data');
  mkdirSync(directory);
  const log = createLog('error', () => {}, systemClock);
  const accounts = await joinPostgres(directory, { connection, key, log, pause: async () => false });
  await accounts!.lmdb.close();
  await connection.close();
  const usage = openReplicaStore(directory);
  const replica = new Replica(usage, systemClock.monotonic);
  const parts = await postgres.query<{ body: Buffer }>(
    `SELECT body FROM fm_snapshot_part JOIN fm_snapshot USING (snapshot) WHERE state = 'whole' ORDER BY part`,
    [],
    url,
  );
  await replica.load(
    (async function* () {
      for (const { body } of parts) yield body;
    })(),
  );
  const [entry] = await postgres.query<{ position: string; id: string }>(
    'SELECT position, id::text FROM fm_entry',
    [],
    url,
  );
  expect(replica.applied).toEqual({ position: 1, id: entry!.id });
  expect(replica.settings).toEqual(defaultSettings);
  await usage.lmdb.close();
  return directory;
}

/** Checks the moved content, and the state of the directory. */
async function expectMoved(before: { accounts: Rows; usage: Rows }, { engine }: AdoptionResult) {
  const other = await joinAnother();
  expect(await accountsIn(other)).toEqual(before.accounts);
  expect(await usageIn(other)).toEqual(before.usage);
  expect(await accountsIn(data)).toEqual(before.accounts);
  expect(await usageIn(data)).toEqual(before.usage);
  const spool = new Spool(data, () => 'never');
  expect(spool.postgresId).toBe(engine);
  await spool.close();
  const usage = openReplicaStore(data);
  const connection = connect();
  const { secret } = await connection.transaction((run) => checkPostgres(run));
  await connection.close();
  expect(readSecret(secret, key)).toEqual(openDigestSecret(usage, randomBytes));
  expect(new Replica(usage, systemClock.monotonic).applied).toMatchObject({ position: 1 });
  await usage.lmdb.close();
  await expect(openPrepared(data)).rejects.toThrow('its accounts are a replica of a database');
}

const everything = async () => ({ accounts: await accountsIn(data), usage: await usageIn(data) });

describe('the store of a single machine', () => {
  test('the move to PostgreSQL keeps all data, and other nodes receive the whole store', async () => {
    const before = await everything();
    expect(before.accounts.length).toBeGreaterThan(30);
    expect(before.usage.length).toBeGreaterThan(60);
    const adopted = await move();
    expect(adopted).toMatchObject({ records: before.accounts.length - 1, usage: { parts: 1 } });
    await expectMoved(before, adopted);
    const text = JSON.stringify(await postgres.query('SELECT value FROM fm_record', [], url));
    const privatePart = /"d":"([^"]+)"/.exec(JSON.stringify(before.accounts).replaceAll('\\', ''))![1]!;
    expect(text).toContain('sealedJwk');
    expect(text).not.toContain(privatePart);
  });

  test('a second move to PostgreSQL reports the first move, and changes nothing', async () => {
    const { engine } = await move();
    const [before] = await postgres.query('SELECT * FROM fm_snapshot', [], url);
    expect(await move()).toEqual({ engine });
    expect(await postgres.query('SELECT * FROM fm_snapshot', [], url)).toEqual([before]);
  });

  test('the move to PostgreSQL includes message ids, so a repeated message does not count on another node', async () => {
    await move();
    const usage = openReplicaStore(await joinAnother());
    const known = Array.from(usage.messageTimes.getKeys(), (each) => each.subarray(0, 16).toString('hex'));
    for (const each of [identity, part]) expect(known).toContain(each.toString('hex'));
    expect(isRemembered(usage, part)).toBe(true);
    await usage.lmdb.close();
  });

  test('the move to PostgreSQL continues after an interruption at any point', async () => {
    const before = await everything();
    const fixture = data;
    let interrupted = 0;
    for (let isDone = false; !isDone; ) {
      url = await postgres.database();
      data = join(temporaryDirectory(), 'data');
      cpSync(fixture, data, { recursive: true });
      const connection = connect();
      try {
        await move(failing(connection, (call) => call === interrupted));
        isDone = true;
      } catch (error) {
        expect((error as Error).message).toBe('interrupted');
        interrupted += 1;
      }
      await expectMoved(before, await move(connection));
      await connection.close();
    }
    expect(interrupted).toBeGreaterThan(9);
  });

  test('a move that continues after an interruption includes counts since the interruption', async () => {
    await expect(move(failing(connect(), isUpload))).rejects.toThrow('interrupted');
    const usage = openReplicaStore(data);
    transact(usage.lmdb, () => putMessage(usage, { identity, at: sentAt + 1_000_000 }));
    await usage.lmdb.close();
    const before = await everything();
    await expectMoved(before, await move());
  });
});

describe('flagmeter postgres adopt', () => {
  async function expectRefused(reason: RegExp) {
    const before = await everything();
    await expect(move()).rejects.toThrow(reason);
    expect(await everything()).toEqual(before);
  }

  test('postgres adopt rejects a database that already has a store', async () => {
    const other = join(temporaryDirectory(), 'data');
    unpack('layout-1', other);
    await move(connect(), other);
    await expectRefused(/^Cannot move a store into this database: it has accounts/);
  });

  test('postgres adopt rejects a database into which another directory is being moved', async () => {
    const other = join(temporaryDirectory(), 'data');
    unpack('layout-1', other);
    await expect(move(failing(connect(), isUpload), other)).rejects.toThrow('interrupted');
    await expectRefused(/it has a store that another directory has begun to move/);
  });

  test('postgres adopt rejects a database that cannot store every name', async () => {
    await postgres.query(`CREATE DATABASE adopt_latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
    onTestFinished(async () => {
      await postgres.query('DROP DATABASE adopt_latin WITH (FORCE)');
    });
    url = postgres.url('adopt_latin');
    await expectRefused(/^The database has the encoding LATIN1/);
    expect(existsSync(join(data, 'spool'))).toBe(false);
  });

  test('postgres adopt rejects a database that has a node', async () => {
    const other = join(temporaryDirectory(), 'data');
    unpack('layout-1', other);
    await expect(move(failing(connect(), isUpload), other)).rejects.toThrow('interrupted');
    await postgres.query(`DELETE FROM fm_snapshot`, [], url);
    await postgres.query(`INSERT INTO fm_node (directory) VALUES ('another')`, [], url);
    await expectRefused(/it has nodes/);
  });

  test('postgres adopt rejects a database other than the database for which the move began', async () => {
    await move();
    url = await postgres.database();
    await expectRefused(
      /^Cannot move this directory: it belongs to the database with the id .*, and this one is empty;/,
    );
  });
});

const isUpload = (_: number, text: string) => text.includes('sha256(body)');
