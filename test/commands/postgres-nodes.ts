import { join } from 'node:path';
import { beforeEach } from 'vitest';
import type { PostgresReport } from '../../src/replication/postgres/postgres-report.ts';
import { opened } from '../support/opened.ts';
import { Postgres } from '../support/postgres.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { runPostgres } from './postgres-fixture.ts';

interface FakeNode {
  readonly name: string;
  readonly directory?: string;
  /** Seconds since the node's last heartbeat. */
  readonly silent?: number;
  readonly state?: string;
  readonly spool?: number;
  readonly skew?: number;
  readonly through?: number;
}

export const through = Date.UTC(2026, 0, 1);

async function newKeyFile(): Promise<string> {
  const file = join(temporaryDirectory(), 'key');
  await runPostgres(['key', '--out', file]);
  return file;
}

/** Starts a PostgreSQL server for the tests of a file. Creates a new database for each test. */
export function statusDatabases() {
  const postgres = opened(() => Postgres.start());
  let url: string;
  beforeEach(async () => {
    url = await postgres.database();
  });

  async function init(to = url, ...more: string[]) {
    const key = more.length === 0 ? ['--postgres-key-file', await newKeyFile()] : more;
    return runPostgres(['init', '--postgres', to, '--admin-email', 'admin@example.com', '--json', ...key]);
  }

  const run = (name: string, ...argv: string[]) => runPostgres([name, '--postgres', url, ...argv]);
  const query = <Row extends object>(text: string, values: unknown[] = []) => postgres.query<Row>(text, values, url);

  async function status(...argv: string[]): Promise<PostgresReport & { host: string; warnings: string[] }> {
    return JSON.parse((await run('status', '--json', ...argv)).out);
  }

  /** Inserts the rows of a node and its stream, as a node itself does. */
  async function node({ name, silent = 0, state = 'up', spool = 0, skew = 0, ...more }: FakeNode): Promise<void> {
    const directory = more.directory ?? `directory-${name}`;
    await query(
      `INSERT INTO fm_node (directory, name, stream, version, beat_at, spool_bytes, oldest_unshipped, skew_ms, state)
     VALUES ($1, $2, $3, '1.2.3', now() - $4 * interval '1 s', $5, $6, $7, $8)`,
      [directory, name, `stream-${directory}`, silent, spool, spool > 0 ? through : null, skew, state],
    );
    await query('INSERT INTO fm_stream (stream, directory, seq, through, state) VALUES ($1, $2, 7, $3, $4)', [
      ...[`stream-${directory}`, directory, more.through ?? through, state === 'up' ? 'open' : state],
    ]);
  }

  const current = () => ({ postgres, url });
  return { init, run, query, status, node, current };
}
