import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import {
  type Binary,
  type Credentials,
  createApplication,
  createKey,
  freshDirectory,
  startBinary,
  token,
} from '../../test/support/binary.ts';
import { Postgres } from '../../test/support/postgres.ts';
import { type Service, startService } from '../service.ts';

/** A PostgreSQL server for nodes, with a prepared database. */
export interface Stage {
  readonly binary: string;
  readonly postgres: Postgres;
  /** Starts a server without PostgreSQL, with the same settings as a node. */
  single(args?: readonly string[]): Promise<Service>;
  /** Prepares another database. */
  cluster(): Promise<StagedPostgres>;
  close(): Promise<void>;
}

export interface StagedPostgres {
  readonly url: string;
  readonly credentials: Credentials;
  /** Starts a node. @param url another URL of PostgreSQL @param data data directory, by default a new one */
  node(args?: readonly string[], url?: string, data?: string): Promise<Service>;
  /** Returns the rows that an SQL statement returns. */
  query<Row extends object>(text: string): Promise<Row[]>;
}

const unlimited = ['--rate', '0', '--api-rate', '0', '--token-rate', '0', '--max-features', '10000'];

/** Starts PostgreSQL. The caller must call `cleanUp` at the end, too. */
export async function openStage(binary: string): Promise<Stage> {
  const postgres = await Postgres.start({ settings: { max_connections: 200 } });
  const clients: pg.Client[] = [];
  return {
    binary,
    postgres,
    single: (args = []) => startService(binary, [...unlimited, ...args]),
    async cluster() {
      const url = await postgres.database();
      // The sections poll, and a new connection for each query costs more than the query.
      const client = new pg.Client({ connectionString: url, application_name: 'bench' });
      await client.connect();
      clients.push(client);
      return openPostgres(binary, url, client);
    },
    async close() {
      for (const client of clients) await client.end();
      await postgres.close();
    },
  };
}

async function openPostgres(binary: string, url: string, client: pg.Client): Promise<StagedPostgres> {
  const init = [
    'postgres',
    'init',
    '--postgres',
    url,
    '--admin-email',
    'bench@localhost',
    '--json',
    '--without-key-file',
  ];
  const { stdout } = await promisify(execFile)(binary, init);
  const credentials = JSON.parse(stdout) as Credentials;
  let first: Pick<Service, 'applicationId' | 'key'> | undefined;
  return {
    url,
    credentials,
    async node(args = [], through = url, data = join(freshDirectory(), 'data')) {
      const cluster = ['--postgres', through, '--node-name', `node-${data.slice(-11, -5)}`];
      const started = await startBinary({ data, binary, args: [...unlimited, ...cluster, ...args] });
      await untilManaging(started);
      const accessToken = await token(started.http, credentials);
      first ??= await makeApplication(started, accessToken);
      return { ...started, credentials, accessToken, ...first };
    },
    query: async <Row extends object>(text: string) => (await client.query(text)).rows as Row[],
  };
}

async function makeApplication({ http }: Binary, access: string) {
  const applicationId = await createApplication(http, access, { name: 'bench' });
  const { key } = await createKey(http, access, applicationId, 'Frontend');
  return { applicationId, key };
}

/** Waits until a node has joined the cluster. */
async function untilManaging({ http }: Binary): Promise<void> {
  await until(async () => (await fetch(`http://${http}/readyz?for=managing`)).ok, 'the node has joined');
}

/** Polls a condition until it is true. @throws {Error} after a minute */
export async function until(asked: () => Promise<boolean>, what: string, everyMs = 20): Promise<void> {
  const end = performance.now() + 60_000;
  while (!(await asked())) {
    if (performance.now() > end) throw new Error(`timed out after a minute, waiting until ${what}`);
    await Bun.sleep(everyMs);
  }
}
