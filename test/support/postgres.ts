import type { ChildProcess } from 'node:child_process';
import { appendFileSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { closing } from './binary.ts';
import { patienceMs } from './patience.ts';
import { freePort, freshServer, guard, runProgram, spawnProgram } from './postgres-program.ts';

export { whyNoPostgres } from './postgres-program.ts';

export interface PostgresOptions {
  /** Additional lines for postgresql.conf. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** The address on which the server listens, and at which clients reach it. */
  readonly host?: string;
  readonly port?: number;
  /** Command prefix for the server's programs, such as `ip netns exec NAME`. */
  readonly prefix?: readonly string[];
  /** Content of pg_hba.conf. By default, anyone may connect. */
  readonly access?: string;
  /** A folder that already contains a data directory; by default, a new server is created. */
  readonly folder?: string;
}

/** Fast settings that are as durable as the defaults: the disk is synced before a commit returns. */
const settings = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  unix_socket_directories: "''",
  shared_buffers: '32MB',
  dynamic_shared_memory_type: 'mmap', // In the data directory, so that a killed server leaves nothing behind.
  max_connections: 100,
  wal_level: 'replica',
  wal_log_hints: 'on',
  wal_keep_size: '256MB',
  max_wal_size: '512MB',
  hot_standby: 'on',
  autovacuum_naptime: '5s',
  wal_retrieve_retry_interval: '100ms',
  log_line_prefix: "'%m [%p] '",
};

/** Settings of the shared server, which is never expected to survive a power loss. */
const sharedSettings = { fsync: 'off', full_page_writes: 'off', autovacuum: 'off' };

/** The server of `Postgres.shared`. */
let shared: Promise<Postgres> | undefined;

/** SQL for the time at which the server last loaded its settings, in microseconds. */
const lastLoad = 'SELECT (extract(epoch FROM pg_conf_load_time()) * 1000000)::text AS at';
interface Load {
  readonly at: string;
}

/** Parameters of URLs. On a busy machine, connecting can take longer than a node would wait for an unreachable host. */
export const patientParameters = 'sslmode=disable&connect_timeout=20';

/** Clause that copies the files of a template. Writing the copy to the WAL costs twice as much CPU. */
const copyFiles = ' STRATEGY FILE_COPY';

const everyone = 'host all all all trust\nhost replication all all trust\n';

/** A database, and the result of the function that filled it. */
interface FilledDatabase<Result> {
  readonly url: string;
  readonly result: Result;
}

/** A separate PostgreSQL server, which is removed when this process ends. */
export class Postgres {
  readonly host: string;
  readonly port: number;
  /** The folder that contains `data`, and is removed with the server. */
  readonly folder: string;
  readonly #prefix: readonly string[];
  readonly #guard: { close(): Promise<void> };
  #process: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #said = '';
  #databases = 0;
  /** The connection for SQL in the database `postgres`. Opening a connection costs as much CPU as 50 short queries. */
  #client: Promise<pg.Client> | undefined;
  /** Databases that `copyOf` copies, by the function that filled them. */
  readonly #filled = new Map<unknown, Promise<FilledDatabase<unknown>>>();
  readonly #isShared: boolean;
  /**
   * Kills the server and removes its files. This happens after the tests of the file at the latest. The shared server
   * stays open.
   */
  readonly close: () => Promise<void>;

  private constructor(options: PostgresOptions, port: number, folder: string, isShared: boolean) {
    this.#isShared = isShared;
    const close = async () => {
      await this.kill();
      await this.#guard.close();
    };
    this.close = isShared ? async () => {} : closing(close);
    this.host = options.host ?? '127.0.0.1';
    this.port = port;
    this.folder = folder;
    this.#prefix = options.prefix ?? [];
    this.#guard = guard(folder);
  }

  /** Starts a new server on a free port, and waits until it accepts connections. @throws {Error} with its output */
  static async start(options: PostgresOptions = {}): Promise<Postgres> {
    const server = await Postgres.prepare(options);
    await server.start();
    return server;
  }

  /**
   * Returns the server that all files of this process share, and starts it if a test has stopped it. The server ends
   * with the process; its databases are dropped after each file. A file that changes settings, or creates a role that
   * another file creates, needs its own server.
   */
  static async shared(): Promise<Postgres> {
    shared ??= Postgres.prepare({ settings: sharedSettings }, true);
    const server = await shared;
    if (!server.isRunning) await server.start();
    return server;
  }

  /** Creates the files of a server without starting it. */
  static async prepare(options: PostgresOptions = {}, isShared = false): Promise<Postgres> {
    const port = options.port ?? (await freePort(options.prefix ? undefined : options.host));
    const folder = options.folder ?? (await freshServer());
    const server = new Postgres(options, port, folder, isShared);
    server.set({ ...settings, listen_addresses: `'${server.host}'`, port, ...options.settings });
    writeFileSync(join(server.data, 'pg_hba.conf'), options.access ?? everyone);
    return server;
  }

  /** Path of the data directory. */
  get data(): string {
    return join(this.folder, 'data');
  }

  /** The log of the server since it was last started. */
  get log(): string {
    return this.#said;
  }

  get isRunning(): boolean {
    return this.#process !== undefined;
  }

  /** Returns the URL of a database for user `postgres`, without TLS. */
  url(database = 'postgres', parameters = patientParameters): string {
    return `postgres://postgres@${this.host}:${this.port}/${database}?${parameters}`;
  }

  /** Creates an empty database, or a copy of another database. @returns its URL */
  async database(template = 'template0'): Promise<string> {
    this.#databases += 1;
    const name = `test_${process.pid}_${this.#databases}_${Math.random().toString(36).slice(2, 8)}`;
    await this.query(`CREATE DATABASE ${name} TEMPLATE ${template}${this.#isShared ? copyFiles : ''}`);
    if (this.#isShared) closing(() => this.#drop(name));
    return this.url(name);
  }

  /**
   * Creates a database with content. Each server calls `fill` once, and copies its database later.
   * @returns the URL of the new database, and the result of `fill`
   */
  async copyOf<Result>(fill: (url: string) => Promise<Result>): Promise<FilledDatabase<Result>> {
    let filled = this.#filled.get(fill) as Promise<FilledDatabase<Result>> | undefined;
    if (filled === undefined) {
      filled = this.#fill(fill);
      this.#filled.set(fill, filled);
    }
    const { url, result } = await filled;
    return { url: await this.database(new URL(url).pathname.slice(1)), result };
  }

  async #fill<Result>(fill: (url: string) => Promise<Result>): Promise<FilledDatabase<Result>> {
    const name = `filled_${this.#filled.size}`;
    await this.query(`CREATE DATABASE ${name} TEMPLATE template0`);
    return { url: this.url(name), result: await fill(this.url(name)) };
  }

  async #drop(name: string): Promise<void> {
    if (this.isRunning) await this.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  }

  /** Replaces a database by an empty database of the same name. */
  async emptyDatabase(url: string): Promise<void> {
    const name = new URL(url).pathname.slice(1);
    await this.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await this.query(`CREATE DATABASE ${name} TEMPLATE template0${this.#isShared ? copyFiles : ''}`);
  }

  /** Copies a database. @returns a function that restores the database from the copy */
  async copyDatabase(url: string): Promise<() => Promise<void>> {
    const name = new URL(url).pathname.slice(1);
    const cut = async (allowed: boolean) => {
      await this.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${allowed}`);
      if (!allowed)
        await this.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    };
    await cut(false);
    await this.query(`CREATE DATABASE ${name}_copy TEMPLATE ${name}${this.#isShared ? copyFiles : ''}`);
    if (this.#isShared) closing(() => this.#drop(`${name}_copy`));
    await cut(true);
    return async () => {
      await cut(false);
      await this.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await this.query(`ALTER DATABASE ${name}_copy RENAME TO ${name}`);
    };
  }

  /** Runs SQL as the superuser, on a separate connection if `url` is given. @returns the rows */
  async query<Row extends object>(text: string, values: unknown[] = [], url?: string): Promise<Row[]> {
    // A connection to a server behind a prefix can hang, because a test can cut its network.
    if (url === undefined && this.#prefix.length === 0) {
      this.#client ??= this.#connectOnce();
      return (await (await this.#client).query(text, values)).rows as Row[];
    }
    const client = await connect(url ?? this.url());
    try {
      return (await client.query(text, values)).rows as Row[];
    } finally {
      await client.end();
    }
  }

  /** Returns the connection that later calls reuse until it ends. */
  #connectOnce(): Promise<pg.Client> {
    const connecting = connect(this.url());
    const forget = () => {
      if (this.#client === connecting) this.#client = undefined;
    };
    connecting.then((client) => client.once('end', forget), forget);
    return connecting;
  }

  /**
   * Adds lines to postgresql.conf. The last line of a setting applies. A running server reads the file at `reload` or
   * restart.
   */
  set(lines: Readonly<Record<string, string | number>>): void {
    const text = Object.entries(lines).map(([name, value]) => `${name} = ${value}\n`);
    appendFileSync(join(this.data, 'postgresql.conf'), text.join(''));
  }

  /** Rereads postgresql.conf and pg_hba.conf. Resolves when the settings apply to commits, after a checkpoint. */
  async reload(): Promise<void> {
    // PostgreSQL signals the checkpointer after the sessions. The second reload begins when the first has signalled it.
    await this.#loadSettings();
    await this.#loadSettings();
    await this.query('CHECKPOINT');
  }

  async #loadSettings(): Promise<void> {
    const [before] = await this.query<Load>(`${lastLoad}, pg_reload_conf()`);
    let loaded = before;
    while (loaded?.at === before?.at) [loaded] = await this.query<Load>(lastLoad);
  }

  /** Starts the server again, with the same files and port. @throws {Error} with its output */
  async start(): Promise<void> {
    const stdio = ['ignore', 'ignore', 'pipe'] as const;
    const child = spawnProgram('postgres', ['-D', this.data], { cwd: this.data, stdio: [...stdio] }, this.#prefix);
    this.#process = child;
    this.#client = undefined;
    this.#said = '';
    this.#ended = new Promise((resolve) => {
      child.once('close', () => {
        if (this.#process === child) this.#process = undefined;
        resolve();
      });
    });
    child.unref();
    (child.stderr as unknown as { unref?(): void }).unref?.();
    await this.#ready(child);
  }

  /** Shuts the server down cleanly. Sessions are closed, and all data is written to disk. */
  async stop(): Promise<void> {
    this.#client = undefined;
    this.#process?.kill('SIGINT');
    await this.#ended;
    await this.#childrenGone();
  }

  /** Kills all processes of the server, similar to a power failure. Resolves when they have ended. */
  async kill(): Promise<void> {
    this.#client = undefined;
    this.#process?.kill('SIGKILL');
    await this.#childrenGone('SIGKILL');
    await this.#ended;
  }

  /** Freezes all processes of the server. Connections stay open, but get no responses. */
  pause(): void {
    for (const each of this.processes()) signal(each, 'SIGSTOP');
    // The first pass can miss a child process that was just created.
    for (const each of this.processes()) signal(each, 'SIGSTOP');
  }

  resume(): void {
    for (const each of this.processes()) signal(each, 'SIGCONT');
  }

  /** Runs a program of PostgreSQL, such as `pg_rewind`, in the network namespace of the server. */
  run(program: string, args: readonly string[]): Promise<void> {
    return runProgram(program, args, this.#prefix);
  }

  /** Returns the ids of the server's processes, which are all processes in its data directory. */
  processes(): number[] {
    const ids = readdirSync('/proc').map(Number).filter(Number.isInteger);
    return ids.filter((id) => {
      try {
        return readlinkSync(`/proc/${id}/cwd`) === this.data;
      } catch {
        return false;
      }
    });
  }

  /**
   * @param name signal for the remaining processes. It is repeated, because the postmaster can fork a process just
   * before it ends
   */
  async #childrenGone(name?: NodeJS.Signals): Promise<void> {
    for (let left = this.processes(); left.length > 0; left = this.processes()) {
      if (name !== undefined) for (const each of left) signal(each, name);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async #ready(child: ChildProcess): Promise<void> {
    await new Promise<void>((ready, failed) => {
      const fail = (why: string) => failed(new Error(`PostgreSQL ${why}\n${this.#said}`));
      const timer = setTimeout(() => fail('did not get ready'), patienceMs);
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        this.#said = (this.#said + text).slice(-100_000);
        if (!/database system is ready to accept (read-only )?connections/.test(this.#said)) return;
        clearTimeout(timer);
        ready();
      });
      child.once('error', (error) => fail(error.message));
      child.once('close', () => {
        clearTimeout(timer);
        fail('ended at once');
      });
    });
  }
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString, application_name: 'test' });
  client.on('error', () => {});
  await client.connect();
  return client;
}

function signal(id: number, name: NodeJS.Signals): void {
  try {
    process.kill(id, name);
  } catch {
    // The process has just ended.
  }
}
