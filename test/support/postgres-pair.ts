import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Postgres, type PostgresOptions, patientParameters } from './postgres.ts';
import { emptyServer, freePort, own } from './postgres-program.ts';

/** A primary PostgreSQL server, and a standby that confirms every commit. The two can change their roles. */
export class PostgresPair {
  #primary: Postgres;
  #standby: Postgres;

  private constructor(primary: Postgres, standby: Postgres) {
    this.#primary = primary;
    this.#standby = standby;
  }

  /** Starts both servers, and waits until commits need the standby. */
  static async start(options: PostgresOptions = {}, ofStandby: PostgresOptions = options): Promise<PostgresPair> {
    const primary = await Postgres.start(options);
    const standby = await copyPrimary(primary, ofStandby);
    const pair = new PostgresPair(primary, standby);
    await pair.beSynchronous();
    return pair;
  }

  get primary(): Postgres {
    return this.#primary;
  }

  get standby(): Postgres {
    return this.#standby;
  }

  /** Returns a URL with the addresses of both servers. */
  url(database = 'postgres'): string {
    const hosts = [this.#primary, this.#standby].map(({ host, port }) => `${host}:${port}`);
    return `postgres://postgres@${hosts.join(',')}/${database}?${patientParameters}`;
  }

  /** Creates an empty database. @returns a URL with the addresses of both servers */
  async database(): Promise<string> {
    const { pathname } = new URL(await this.#primary.database());
    return this.url(pathname.slice(1));
  }

  /** Makes all later commits wait for the standby. */
  async beSynchronous(): Promise<void> {
    this.#primary.set({ synchronous_standby_names: `'FIRST 1 (${formatName(this.#standby)})'` });
    await this.#primary.reload();
    await until(async () => {
      const rows = await this.#primary.query('SELECT 1 FROM pg_stat_replication WHERE sync_state = $1', ['sync']);
      return rows.length > 0;
    });
  }

  /** Makes commits succeed without a standby, after the standby was lost. */
  async beAlone(): Promise<void> {
    this.#primary.set({ synchronous_standby_names: "''" });
    await this.#primary.reload();
  }

  /** Promotes the standby. The former primary, running or not, is unchanged, and becomes the standby of this pair. */
  async promote(): Promise<void> {
    await this.#standby.query('SELECT pg_promote(true, 30)');
    const primary = this.#primary;
    this.#primary = this.#standby;
    this.#standby = primary;
  }

  /** Restarts the former primary as a standby. Kills it if necessary, rewinds or copies it, and waits for it. */
  async rejoin(): Promise<void> {
    const primary = this.#primary;
    const old = this.#standby;
    await old.kill();
    const configuration = join(old.data, 'postgresql.conf');
    const kept = readFileSync(configuration);
    try {
      await primary.query('CHECKPOINT');
      await old.run('pg_rewind', ['-D', old.data, `--source-server=${connectionInfo(primary)}`]);
    } catch {
      rmSync(old.data, { recursive: true, force: true });
      await old.run('pg_basebackup', ['-D', old.data, '-c', 'fast', '-d', connectionInfo(primary)]);
    }
    writeFileSync(configuration, kept);
    follow(old, primary);
    await old.start();
    await this.beSynchronous();
  }

  async close(): Promise<void> {
    await Promise.all([this.#standby.close(), this.#primary.close()]);
  }
}

/** Starts a pair before the tests of a file or `describe`. */
export function primaryAndStandby(options?: PostgresOptions, ofStandby?: PostgresOptions): Promise<PostgresPair> {
  return PostgresPair.start(options, ofStandby);
}

async function copyPrimary(primary: Postgres, options: PostgresOptions): Promise<Postgres> {
  const port = options.port ?? (await freePort(options.prefix ? undefined : options.host));
  const folder = emptyServer();
  await primary.run('pg_basebackup', ['-D', join(folder, 'data'), '-c', 'fast', '-d', connectionInfo(primary)]);
  const standby = await Postgres.prepare({ ...options, port, folder });
  follow(standby, primary);
  await standby.start();
  return standby;
}

function follow(standby: Postgres, primary: Postgres): void {
  standby.set({
    primary_conninfo: `'${connectionInfo(primary)} application_name=${formatName(standby)}'`,
    synchronous_standby_names: "''",
    recovery_target_timeline: "'latest'",
  });
  const signal = join(standby.data, 'standby.signal');
  writeFileSync(signal, '');
  own(signal);
}

function formatName({ port }: Postgres): string {
  return `standby_${port}`;
}

function connectionInfo({ host, port }: Postgres): string {
  return `host=${host} port=${port} user=postgres dbname=postgres sslmode=disable`;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10));
}
