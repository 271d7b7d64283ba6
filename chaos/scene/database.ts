import type { Postgres } from '../../test/support/postgres.ts';
import { type PostgresPair, primaryAndStandby } from '../../test/support/postgres-pair.ts';
import type { Journal } from '../journal.ts';
import { within } from '../pause.ts';
import { addressOf, at, type Place } from './network.ts';

/** Nothing that a frozen or cut off peer holds is held for long. */
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

/** The primary and its synchronous standby, and what is done to them. */
export class Database {
  readonly #pair: PostgresPair;
  readonly #journal: Journal;

  private constructor(pair: PostgresPair, journal: Journal) {
    this.#pair = pair;
    this.#journal = journal;
  }

  static async start(journal: Journal): Promise<Database> {
    const server = (place: Place) => ({ host: addressOf(place), prefix: at(place), port, settings });
    const pair = await primaryAndStandby(server('postgres1'), server('postgres2'));
    const made = new Database(pair, journal);
    await made.query(`CREATE DATABASE ${database}`, 'postgres');
    return made;
  }

  get primary(): Postgres {
    return this.#pair.primary;
  }

  get standby(): Postgres {
    return this.#pair.standby;
  }

  /** The engine's URL, by the addresses at which a node reaches the two servers. */
  url(hosts: readonly string[]): string {
    return `postgres://postgres@${hosts.join(',')}/${database}?sslmode=disable`;
  }

  get hosts(): string[] {
    return (['postgres1', 'postgres2'] as const).map((place) => `${addressOf(place)}:${port}`);
  }

  /** Runs SQL at the primary as its superuser. @returns the rows */
  query<Row extends object>(text: string, name = database): Promise<Row[]> {
    return this.primary.query<Row>(text, [], this.primary.url(name));
  }

  /** Makes the standby the primary, alone. What was the primary stays as it is. */
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

  /** Whatever was done to them: both run, and the standby confirms commits again. The network must be whole. */
  async makeWell(): Promise<void> {
    for (const server of [this.primary, this.standby]) server.resume();
    if (!this.primary.isRunning) await this.primary.start();
    if (await this.#isStandbyWell()) return this.beSynchronous();
    this.#journal.note(`${this.standby.host} is made a standby again`);
    await this.#pair.rejoin();
  }

  /** Ends backends, or their waits for the standby, of the nodes. @returns how many */
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

  /** Whether it follows the primary, or does so soon. */
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
