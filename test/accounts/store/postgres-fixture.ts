import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { Change } from '../../../src/accounts/store/account-store.ts';
import type { PostgresAccountStoreDeps } from '../../../src/replication/accounts/accounts-follower.ts';
import { newCopy } from '../../../src/replication/accounts/copy.ts';
import { PostgresAccountStore } from '../../../src/replication/accounts/postgres.ts';
import { Connection, type PostgresSession } from '../../../src/replication/postgres/connection.ts';
import { parsePostgresUrl } from '../../../src/replication/postgres/postgres-url.ts';
import { createTables } from '../../../src/replication/postgres/schema.ts';
import { SharedClock } from '../../../src/replication/postgres/shared-clock.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import type { Log } from '../../../src/runtime/log.ts';
import { type AccountTables, copyStateWriter } from '../../../src/storage/lmdb/accounts.ts';
import { Postgres } from '../../support/postgres.ts';
import { openTestStore, type TestHealth, testHealth } from '../fixture.ts';

/** The server that the tests of a file share. */
export const sharedServer = (): Promise<Postgres> => Postgres.shared();

/** Creates a database without accounts. Returns its URL. */
export async function newDatabase(postgres: Postgres): Promise<string> {
  return (await postgres.copyOf(createDatabaseTables)).url;
}

async function createDatabaseTables(url: string): Promise<void> {
  const connection = connect(url);
  await connection.transaction((run) => createTables(run, { id: 'engine-1', secret: '' }));
  await connection.close();
}

/** The logged messages. */
export interface TestLog extends Log {
  readonly lines: string[];
}

export function testLog(): TestLog {
  const lines: string[] = [];
  const add = (message: string, fields = {}) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  return { lines, debug: add, info: add, warn: add, error: add };
}

export function connect(url: string, name = 'test', deadlineMs = 4000): Connection {
  const options = { name, log: testLog(), clock: systemClock, deadlineMs };
  const connection = new Connection(parsePostgresUrl(url), options);
  onTestFinished(() => connection.close());
  return connection;
}

/** A node with its replica and its account store. */
export interface TestNode {
  readonly accountStore: PostgresAccountStore;
  readonly store: AccountTables;
  readonly health: TestHealth;
  readonly log: TestLog;
}

export interface NodeOptions extends Partial<PostgresAccountStoreDeps> {
  readonly store?: AccountTables;
  /** Puts a proxy between the node and PostgreSQL. */
  readonly wrap?: (connection: PostgresSession) => PostgresSession;
  readonly repair?: () => Promise<Change<void>>;
  readonly deadlineMs?: number;
}

/** A store that is a replica of a new database. */
export function emptyCopy(id = 'engine-1'): AccountTables {
  const store = openTestStore();
  const state = newCopy(id, { position: 0, id: '0' });
  store.lmdb.transactionSync(() => copyStateWriter(store.lmdb)(state));
  return store;
}

export function openNode(url: string, options: NodeOptions = {}): TestNode {
  const { store = emptyCopy(), wrap = (connection) => connection } = options;
  const health = testHealth();
  const log = testLog();
  const accountStore = new PostgresAccountStore(store, {
    health,
    reads: wrap(connect(url, 'reads', options.deadlineMs)),
    changes: wrap(connect(url, 'changes', options.deadlineMs)),
    signIns: connect(url, 'sign-ins', options.deadlineMs),
    directory: randomBytes(8).toString('hex'),
    key: undefined,
    clock: new SharedClock(systemClock),
    log,
    randomBytes,
    repair: async () => () => {},
    setAside: async () => {},
    ...options,
  });
  onTestFinished(() => accountStore.close());
  return { accountStore, store, health, log };
}
