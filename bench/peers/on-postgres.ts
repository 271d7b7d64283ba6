import { Postgres } from '../../test/support/postgres.ts';
import type { PeerRequest, RunningPeer } from './peer.ts';

/** Settings of a small PostgreSQL server in production. Commits are durable, which is the default. */
const settings = { shared_buffers: '512MB', max_wal_size: '4GB', autovacuum_naptime: '1min' };

/** A server process that stores its counts in PostgreSQL. */
export interface PostgresClient {
  readonly http: string;
  readonly pid: number;
  stop(signal?: NodeJS.Signals): Promise<unknown>;
}

/** A program that stores its counts in PostgreSQL. */
export interface OnPostgres<Client extends PostgresClient> {
  readonly name: string;
  start(database: string): Promise<Client>;
  /** SQL that creates data which the program needs. */
  readonly prepare?: string;
  /** SQL that returns the sum of all checks as `total`. */
  readonly total: string;
  requests(http: string): readonly PeerRequest[];
  /** Returns a request that a client repeats after a lost response. */
  retried(http: string): PeerRequest;
}

/** Starts a program with its own PostgreSQL server. */
export async function runOnPostgres<Client extends PostgresClient>(program: OnPostgres<Client>): Promise<RunningPeer> {
  const postgres = await Postgres.start({ settings });
  const database = await postgres.database();
  const [{ server_version: version = '' } = {}] = await postgres.query<{ server_version: string }>(
    'SHOW server_version',
  );
  let client = await program.start(database);
  if (program.prepare !== undefined) await postgres.query(program.prepare, [], database);
  return {
    name: `${program.name}, PostgreSQL ${version.split(' ')[0]}`,
    get http() {
      return client.http;
    },
    get pid() {
      return client.pid;
    },
    processes: () => [client.pid, ...postgres.processes()],
    requests: () => program.requests(client.http),
    counts: {
      async total() {
        const [row] = await postgres.query<{ total: string | null }>(program.total, [], database);
        return Number(row?.total ?? 0);
      },
      retried: () => program.retried(client.http),
      async kill() {
        await Promise.all([client.stop('SIGKILL'), postgres.kill()]);
      },
      async restart() {
        await postgres.start();
        client = await program.start(database);
      },
    },
    async stop() {
      await client.stop();
      await postgres.close();
    },
  };
}
