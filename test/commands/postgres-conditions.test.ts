import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished } from 'vitest';
import { Connection } from '../../src/replication/postgres/connection.ts';
import {
  type Condition,
  logSession,
  type PostgresReport,
} from '../../src/replication/postgres/postgres-report.ts';
import { parsePostgresUrl } from '../../src/replication/postgres/postgres-url.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createLog } from '../../src/runtime/log.ts';
import { needing } from '../support/needing.ts';
import { Postgres } from '../support/postgres.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { runPostgres } from './postgres-fixture.ts';

const { describe, it } = needing('postgresql');

let postgres: Postgres;
let url: string;
beforeAll(async () => {
  postgres = await Postgres.start();
});
afterAll(() => postgres.close());
beforeEach(async () => {
  url = await postgres.database();
});

async function init(to = url, ...more: string[]) {
  const key = more.length === 0 ? ['--postgres-key-file', await newKeyFile()] : more;
  return runPostgres(['init', '--postgres', to, '--admin-email', 'admin@example.com', '--json', ...key]);
}

async function newKeyFile(): Promise<string> {
  const file = join(temporaryDirectory(), 'key');
  await runPostgres(['key', '--out', file]);
  return file;
}

const run = (name: string, ...argv: string[]) => runPostgres([name, '--postgres', url, ...argv]);
const query = <Row extends object>(text: string, values: unknown[] = []) =>
  postgres.query<Row>(text, values, url);

async function status(...argv: string[]): Promise<PostgresReport & { host: string; warnings: string[] }> {
  return JSON.parse((await run('status', '--json', ...argv)).out);
}

interface FakeNode {
  readonly name: string;
  readonly directory?: string;
  /** Seconds since its last beat. */
  readonly silent?: number;
  readonly state?: string;
  readonly spool?: number;
  readonly skew?: number;
  readonly through?: number;
}

const through = Date.UTC(2026, 0, 1);

/** Inserts a node with one stream, as the node itself does. */
async function node({
  name,
  silent = 0,
  state = 'up',
  spool = 0,
  skew = 0,
  ...more
}: FakeNode): Promise<void> {
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

/** Opens a session as that of a running node. */
async function openLogSession(directory: string, condition?: Condition): Promise<void> {
  const name = logSession({ directory, name: 'north' }, condition);
  const log = createLog('error', () => {}, systemClock);
  const session = new Connection(parsePostgresUrl(url), { name, log, clock: systemClock, deadlineMs: 5000 });
  onTestFinished(() => session.close());
  await session.query({ text: 'SELECT 1' });
}

describe('the conditions of nodes in postgres status', () => {
  it('warns of processes that refuse: a forgotten node that runs, and copies of a directory', async () => {
    await init();
    await node({ name: 'north', directory: 'directory-of-the-north' });
    await node({ name: 'south', state: 'forgotten' });
    await node({ name: 'west', state: 'forgotten', silent: 60 });
    const beat = () => openLogSession('directory-of-the-north');
    const refusals = async () => (await status()).nodes.map(({ name, refuses }) => [name, refuses]);
    await beat();
    expect(await refusals()).toEqual([
      ['north', null],
      ['south', 'closed'],
      ['west', null],
    ]);
    await beat();
    expect((await refusals())[0]).toEqual(['north', 'copied']);
    const { out } = await run('status');
    expect(out).toMatch(/^north +up, copy refuses /m);
    expect(out).toMatch(/^south +forgotten, refuses /m);
    expect(out).toMatch(/^Warning: Several processes use the data directory of node north or copies of it/m);
    expect(out).toMatch(/^Warning: Node south was forgotten but is running: it answers 503 until/m);
  });

  it.each<[Condition, string, string | undefined]>([
    ['ok', 'up', undefined],
    ['full', 'up, spool full', 'Node north refuses packets: its spool is full'],
    ['store', 'up, store fails', 'Node north refuses packets: its store cannot take data'],
    ['copied', 'up, copy refuses', 'Several processes use the data directory of node north'],
    ['closed', 'up, refuses', 'Node north was forgotten but is running'],
    ['behind', 'up, ships nothing', 'Node north counts but ships nothing: PostgreSQL is older'],
  ])('shows the condition %s that a session tells', async (condition, state, warning) => {
    await init();
    await node({ name: 'north', through: Date.now() });
    await openLogSession('directory-north', condition);
    const { warnings } = await status();
    expect(warnings.slice(1)).toEqual(warning === undefined ? [] : [expect.stringContaining(warning)]);
    expect((await run('status')).out).toMatch(new RegExp(`^north +${state}  `, 'm'));
  });
});
