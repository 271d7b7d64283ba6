import { join } from 'node:path';
import pg from 'pg';
import type { Postgres } from '../../test/support/postgres.ts';
import { type PostgresPair, primaryAndStandby } from '../../test/support/postgres-pair.ts';
import type { Journal } from '../journal.ts';
import { within } from '../pause.ts';
import { at, getAddress, type Place } from './network.ts';
import { SkewedClock } from './skewed-clock.ts';

/** Settings that quickly end the sessions of frozen or unreachable peers, which releases their locks. */
const settings = {
  wal_sender_timeout: '3s',
  wal_receiver_timeout: '3s',
  wal_receiver_status_interval: '1s',
  wal_retrieve_retry_interval: '500ms',
  tcp_keepalives_idle: 2,
  tcp_keepalives_interval: 1,
  tcp_keepalives_count: 3,
};

export const port = 5432;
const database = 'flagmeter';
/** Name of the replacement database, and new name of the replaced database. */
const replacement = 'replacement';
const kept = 'kept';

interface DatabaseOptions {
  /** Folder for the files with the offsets of the clocks. */
  readonly folder: string;
  readonly journal: Journal;
}

/** The primary PostgreSQL server and its synchronous standby. */
export class Database {
  readonly #pair: PostgresPair;
  /** Clocks by host. */
  readonly #clocks: ReadonlyMap<string, SkewedClock>;
  readonly #journal: Journal;

  private constructor(pair: PostgresPair, clocks: ReadonlyMap<string, SkewedClock>, journal: Journal) {
    this.#pair = pair;
    this.#clocks = clocks;
    this.#journal = journal;
  }

  /** Starts both servers. @param clockLibrary library from `buildClock` */
  static async start({ folder, journal }: DatabaseOptions, clockLibrary: string): Promise<Database> {
    const clocks = new Map<string, SkewedClock>();
    const server = (place: Place) => {
      const host = getAddress(place);
      const clock = new SkewedClock(clockLibrary, join(folder, `${place}.clock`));
      clocks.set(host, clock);
      return { host, prefix: [...at(place), ...clock.prefix], port, settings };
    };
    const pair = await primaryAndStandby(server('postgres1'), server('postgres2'));
    const made = new Database(pair, clocks, journal);
    await made.query(`CREATE DATABASE ${database}`, 'postgres');
    return made;
  }

  get primary(): Postgres {
    return this.#pair.primary;
  }

  get standby(): Postgres {
    return this.#pair.standby;
  }

  getClock({ host }: Postgres): SkewedClock {
    return this.#clocks.get(host) as SkewedClock;
  }

  /** Returns the URL of the database. @param hosts addresses at which a node reaches the two servers */
  url(hosts: readonly string[]): string {
    return `postgres://postgres@${hosts.join(',')}/${database}?sslmode=disable`;
  }

  get hosts(): string[] {
    return (['postgres1', 'postgres2'] as const).map((place) => `${getAddress(place)}:${port}`);
  }

  /** Runs SQL on the primary as a superuser. @returns the rows */
  query<Row extends object>(text: string, name = database): Promise<Row[]> {
    return this.primary.query<Row>(text, [], this.primary.url(name));
  }

  /** Locks the rows of a query. @returns a function that unlocks them */
  async lock(query: string): Promise<() => Promise<void>> {
    const client = new pg.Client({ connectionString: this.primary.url(database) });
    client.on('error', () => {});
    await client.connect();
    await client.query(`BEGIN; ${query} FOR UPDATE`);
    return () => client.end();
  }

  /** Writes a dump of the database. */
  async dump(): Promise<void> {
    await this.primary.run('pg_dump', [
      '--format=custom',
      '--file',
      this.#dumpFile,
      '--dbname',
      this.primary.url(database),
    ]);
  }

  /** Replaces the real database by an empty database or the last dump. The real database is kept under another name. */
  async replace(by: 'dump' | 'empty'): Promise<void> {
    await this.query(`CREATE DATABASE ${replacement} TEMPLATE template0`, 'postgres');
    const to = this.primary.url(replacement);
    if (by === 'dump') await this.primary.run('pg_restore', ['--exit-on-error', '--dbname', to, this.#dumpFile]);
    await this.#rename(database, kept);
    await this.#rename(replacement, database);
  }

  /** Drops the real database. Its replacement stays. */
  async dropReplaced(): Promise<void> {
    await this.query(`DROP DATABASE ${kept}`, 'postgres');
  }

  /** Restores the real database in place of its replacement. */
  async putBack(): Promise<void> {
    await this.#rename(database, replacement);
    await this.#rename(kept, database);
    await this.query(`DROP DATABASE ${replacement}`, 'postgres');
  }

  /** Closes the sessions of a database, and renames it. */
  async #rename(from: string, to: string): Promise<void> {
    await this.query(`ALTER DATABASE ${from} ALLOW_CONNECTIONS false`, 'postgres');
    await this.query(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${from}'`,
      'postgres',
    );
    await this.query(`ALTER DATABASE ${from} RENAME TO ${to}`, 'postgres');
    await this.query(`ALTER DATABASE ${to} ALLOW_CONNECTIONS true`, 'postgres');
  }

  get #dumpFile(): string {
    return join(this.primary.folder, 'dump');
  }

  /** Promotes the standby. The former primary is unchanged. */
  async promote(): Promise<void> {
    await this.#pair.promote();
    this.#journal.note(`${this.primary.host} is the primary now`);
  }

  async beAlone(): Promise<void> {
    await this.#pair.beAlone();
  }

  beSynchronous(): Promise<void> {
    return this.#pair.beSynchronous();
  }

  /** Restores a primary and a standby that confirms its commits. Requires a working network. */
  async makeWell(): Promise<void> {
    for (const clock of this.#clocks.values()) clock.aheadMs = 0;
    for (const server of [this.primary, this.standby]) server.resume();
    if (!this.primary.isRunning) await this.primary.start();
    if (await this.#isStandbyWell()) return this.beSynchronous();
    this.#journal.note(`${this.standby.host} becomes a standby again`);
    await this.#pair.rejoin();
  }

  /** Terminates sessions of nodes, or cancels their waits for the standby. @returns the number of sessions */
  async signal(how: 'cancel' | 'terminate', which: string): Promise<number> {
    const rows = await this.query<{ done: boolean }>(
      `SELECT pg_${how}_backend(pid) AS done FROM pg_stat_activity WHERE datname = '${database}' AND pid <> pg_backend_pid() AND ${which}`,
      'postgres',
    );
    return rows.length;
  }

  async close(): Promise<void> {
    await this.#pair.close();
  }

  /** True if the standby follows the primary, or will soon follow it. */
  async #isStandbyWell(): Promise<boolean> {
    if (!this.standby.isRunning) return false;
    return within(6_000, async () => {
      const rows = await this.query<{ state: string }>(
        "SELECT state FROM pg_stat_replication WHERE state = 'streaming'",
        'postgres',
      );
      return rows.length > 0;
    });
  }
}
