import { createPrivateKey, X509Certificate } from 'node:crypto';
import { connect } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import { readTextFile } from '../../runtime/files.ts';
import { endsSession, getSqlstate, PostgresError, refusal } from './postgres-error.ts';
import { type PostgresAddress, type PostgresHost, type PostgresTls, showHost } from './postgres-url.ts';

/** A value of a parameter such as `$1`. A list is an array in SQL. */
type Value = string | number | bigint | boolean | Date | Uint8Array | null | undefined | readonly Value[];

/** A statement. A statement with a name is prepared once in each session, so a name must always have the same text. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly Value[];
}

/** Result of a statement. `int8` is a bigint, `bytea` a Buffer, `timestamptz` a Date. */
export interface QueryResult<Row = Record<string, unknown>> {
  readonly rows: Row[];
  /** Number of rows returned or changed. */
  readonly rowCount: number;
}

/** Sends a statement. Statements that are sent without waiting for responses are pipelined. */
export type Run = <Row = Record<string, unknown>>(statement: Statement) => Promise<QueryResult<Row>>;

interface CommandResult extends QueryResult {
  /** Command tag: `COMMIT`, `ROLLBACK`, `INSERT` and so on. */
  readonly command: string;
}

interface SentStatement {
  readonly reject: (error: PostgresError) => void;
  readonly commits: boolean;
  /** True if the server warned during this commit that the standby might not have the commit. */
  isUnconfirmed: boolean;
}

const closeWithinMs = 1000;

/** One session with the primary. Once it is lost, all pending and later calls reject. */
export class Session {
  readonly host: PostgresHost;
  readonly #client: pg.Client;
  readonly #sent: SentStatement[] = [];
  readonly #onLost: (why: Error) => void;
  #lost: Error | undefined;
  #isClosing = false;

  /** @param client a connected client @param onLost called once if the session ends by other means than `close` */
  constructor(client: pg.Client, host: PostgresHost, onLost: (why: Error) => void) {
    this.#client = client;
    this.host = host;
    this.#onLost = onLost;
    client.removeAllListeners('error');
    client.on('error', (error) => this.#lose(error));
    client.on('end', () => this.#lose(new Error('the server closed the session')));
    client.on('notice', ({ code }) => this.#notice(code));
  }

  get isOpen(): boolean {
    return this.#lost === undefined && !this.#isClosing;
  }

  /**
   * Sends a statement immediately, after earlier statements.
   * @param commits true if the statement can commit
   * @throws {PostgresError} `sql`; `unreachable` if it was not sent; `unknown_outcome` if the session was lost, or the
   * standby might not have the commit
   */
  send(statement: Statement, commits: boolean): Promise<CommandResult> {
    return new Promise((resolve, reject) => {
      if (!this.isOpen) return reject(closed());
      const sent: SentStatement = { reject, commits, isUnconfirmed: false };
      this.#sent.push(sent);
      // `pg` calls a callback while it parses the response. A promise resolves later, when `isUnconfirmed` can already
      // belong to the next statement.
      const onResult = (error: Error | undefined, result: pg.QueryResult) => {
        const place = this.#sent.indexOf(sent);
        if (place === -1) return;
        this.#sent.splice(place, 1);
        if (error) reject(this.#failed(error));
        else if (sent.isUnconfirmed) reject(unconfirmed());
        else resolve({ rows: result.rows, rowCount: result.rowCount ?? 0, command: result.command });
      };
      const { name, text, values } = statement;
      this.#client.query({ ...(name === undefined ? {} : { name }), text, values: values as unknown[] }, onResult);
    });
  }

  /** Runs a transaction, exclusively. See `Connection.transaction`. */
  async transaction<T>(work: (run: Run) => Promise<T> | T): Promise<T> {
    let failure: unknown;
    const run = <Row>(statement: Statement): Promise<QueryResult<Row>> => {
      const pending = this.send(statement, false).catch((error: PostgresError) => {
        failure ??= nothingKept(error);
        throw failure;
      });
      pending.catch(() => {}); // COMMIT reports the failure of a statement that was not awaited.
      return pending as unknown as Promise<QueryResult<Row>>;
    };
    void run({ text: 'BEGIN' });
    let result: T;
    try {
      result = await work(run);
    } catch (error) {
      if (this.isOpen) await this.send({ text: 'ROLLBACK' }, false).catch(() => {});
      throw error;
    }
    if (!this.isOpen) throw failure ?? new PostgresError('unreachable', 'The session with PostgreSQL was lost');
    const { command } = await this.send({ text: 'COMMIT' }, true);
    if (command === 'COMMIT') return result;
    throw failure ?? new PostgresError('sql', 'PostgreSQL rolled the transaction back');
  }

  /** Cancels the current statement on the server, and closes the socket. */
  abandon(why: Error): void {
    const { processID, secretKey } = this.#client as unknown as { processID: number; secretKey: number };
    if (this.#sent.length > 0) cancel(this.host, processID, secretKey);
    this.#lose(why);
  }

  /** Closes the session when all responses have arrived. */
  async close(): Promise<void> {
    if (!this.isOpen) return;
    this.#isClosing = true;
    const timer = setTimeout(() => this.abandon(closed()), closeWithinMs);
    await this.#client.end();
    clearTimeout(timer);
  }

  #notice(code: string | undefined): void {
    const running = this.#sent[0];
    if (running?.commits && (code === '01000' || code === '57P01')) running.isUnconfirmed = true;
  }

  #failed(error: Error): PostgresError {
    const sqlstate = getSqlstate(error);
    if (sqlstate === undefined) return lost(this.#lost ?? error);
    if (!endsSession(sqlstate)) return refusal(error, sqlstate);
    this.#lose(error);
    return lost(error);
  }

  #lose(why: Error): void {
    if (this.#lost !== undefined) return;
    this.#lost = why;
    getSocket(this.#client).destroy();
    for (const { reject } of this.#sent.splice(0)) reject(lost(why));
    if (!this.#isClosing) this.#onLost(why);
  }
}

function closed(): Error {
  return new PostgresError('unreachable', 'The session with PostgreSQL is closed');
}

/** Time limit of a cancel request, because a server that hangs never accepts it. */
const cancelWithinMs = 2000;
const cancelRequest = 80_877_102;

/**
 * Cancels a session's statement through a separate connection, as the protocol requires. Otherwise an abandoned session
 * that waits for its standby would still hold its locks. The server does not respond to a cancel request.
 */
function cancel({ host, port }: PostgresHost, processId: number, secret: number): void {
  const message = Buffer.alloc(16);
  for (const [at, value] of [16, cancelRequest, processId, secret].entries()) message.writeInt32BE(value, at * 4);
  const socket = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
  socket.on('error', () => socket.destroy());
  socket.setTimeout(cancelWithinMs, () => socket.destroy());
  socket.on('connect', () => socket.end(message));
  socket.unref();
}

/** Returns a client's socket, because `pg` has no method that closes it immediately. */
function getSocket(client: pg.Client): { destroy(): void } {
  return (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream;
}

function lost(why: Error): PostgresError {
  if (why instanceof PostgresError) return new PostgresError('unknown_outcome', why.message, why.sqlstate, why);
  const sqlstate = getSqlstate(why);
  const cause = sqlstate === undefined ? why.message : `${why.message} (SQLSTATE ${sqlstate})`;
  return new PostgresError('unknown_outcome', `The session with PostgreSQL was lost: ${cause}`, sqlstate, why);
}

function unconfirmed(): PostgresError {
  const message = 'PostgreSQL has committed without its standby: waiting for the standby was cancelled';
  return new PostgresError('unknown_outcome', message, '01000');
}

/** Returns the error for a transaction whose COMMIT was not sent, and which therefore had no effect. */
function nothingKept(error: PostgresError): PostgresError {
  if (error.code !== 'unknown_outcome') return error;
  const isLate = error.cause instanceof PostgresError && error.cause.code === 'deadline';
  return new PostgresError(isLate ? 'deadline' : 'unreachable', error.message, error.sqlstate, error.cause);
}

const int8 = 20;
const types = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === int8 ? BigInt : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

/**
 * The first statements of each session: a query, and settings that replace the role's defaults. Commits wait for the
 * disk and the standby. Timeouts release the locks of a frozen or disconnected node. The node itself enforces all other
 * deadlines. PostgreSQL reports a cancelled wait for the standby as a warning. The driver reads ISO dates only.
 */
const preparation = `
  SET synchronous_commit = on;
  SET lock_timeout = '5s';
  SET idle_in_transaction_session_timeout = '5s';
  SET idle_session_timeout = 0;
  SET statement_timeout = 0;
  SET DateStyle = ISO;
  SET extra_float_digits = 1;
  SET default_transaction_isolation = 'read committed';
  SET client_min_messages = notice;
  SET tcp_user_timeout = '10s';
  SET tcp_keepalives_idle = 5;
  SET tcp_keepalives_interval = 2;
  SET tcp_keepalives_count = 3;
  SELECT pg_is_in_recovery() AS "isStandby", current_setting('default_transaction_read_only') = 'on' AS "isReadOnly"`;

const keepAliveAfterMs = 5000;

type DriverError = Error & { readonly code?: string };

interface SessionOptions {
  /** Name of the session in `pg_stat_activity`. */
  readonly name: string;
  /** Aborts the attempt. */
  readonly signal: AbortSignal;
  readonly onLost: (why: Error) => void;
}

/**
 * Opens a session with one server.
 * @throws {PostgresError} `unreachable` if the server does not respond or is not the primary; `refused`
 */
export async function openSession(
  address: PostgresAddress,
  host: PostgresHost,
  { name, signal, onLost }: SessionOptions,
): Promise<Session> {
  const client = new pg.Client({
    host: host.host,
    port: host.port,
    database: address.database,
    user: address.user,
    // Passed as a function, because `pg` looks for a missing value in its own files and variables.
    password: () => address.password ?? '',
    ssl: host.host.startsWith('/') ? false : tlsOptions(address.tls),
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
    application_name: name,
    pipeline: true,
    types,
    ...(address.options === undefined ? {} : { options: address.options }),
  });
  let failed: Error | undefined;
  client.on('error', (error) => {
    failed ??= error;
  });
  const giveUp = () => getSocket(client).destroy();
  const timer = setTimeout(giveUp, address.connectTimeoutMs);
  signal.addEventListener('abort', giveUp);
  try {
    await client.connect();
    await prepare(client);
    if (failed !== undefined) throw failed;
    return new Session(client, host, onLost);
  } catch (error) {
    giveUp();
    const isOther = error instanceof NotPrimary;
    const refusal = isOther ? undefined : whyRefused(error as DriverError, address);
    const what = refusal ?? (isOther ? error.message : whyUnreachable(error as DriverError));
    const code = refusal === undefined ? 'unreachable' : 'refused';
    throw new PostgresError(code, `${showHost(host)} ${what}`, getSqlstate(error));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
  }
}

class NotPrimary extends Error {}

async function prepare(client: pg.Client): Promise<void> {
  const results = (await client.query(preparation)) as unknown as pg.QueryResult[];
  const { isStandby, isReadOnly } = results.at(-1)?.rows[0] ?? {};
  if (isStandby) throw new NotPrimary('is a standby, not the primary');
  if (isReadOnly) throw new NotPrimary('is read-only: default_transaction_read_only is on');
}

/** Explains a configuration error by SQLSTATE or system code; returns `undefined` for other errors. */
function whyRefused(error: DriverError, { user, password, database }: PostgresAddress): string | undefined {
  const sqlstate = getSqlstate(error);
  const shown = JSON.stringify(user);
  if (sqlstate === '28P01') return `rejects the password of user ${shown} (SQLSTATE 28P01): correct it in the URL`;
  if (sqlstate === '28000') return `rejects user ${shown} (SQLSTATE 28000): ${error.message}`;
  if (sqlstate === '3D000')
    return `has no database ${JSON.stringify(database)} (SQLSTATE 3D000): create it, or correct the URL`;
  if (sqlstate !== undefined && /^(22|42)/.test(sqlstate))
    return `rejects the options of the URL: ${error.message} (SQLSTATE ${sqlstate})`;
  if (/password must be a/.test(error.message) && password === undefined)
    return `requires a password for user ${shown}, but the URL has none`;
  if (/does not support SSL/.test(error.message))
    return 'does not offer TLS: turn it on at the server, or use sslmode=disable in the URL if the network is safe';
  if (/alert.(unknown.ca|(bad|unsupported).certificate|certificate)/i.test(error.message))
    return `rejects the certificate of sslcert: ${error.message}`;
  const certificate = certificateErrors[error.code ?? ''];
  return certificate && `cannot be trusted: ${certificate} (${error.code})`;
}

const untrusted = 'its certificate is not signed by a trusted root: set sslrootcert to the file of the root';

const certificateErrors: Readonly<Record<string, string | undefined>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name: use the name of the certificate in the URL',
  CERT_HAS_EXPIRED: 'its certificate has expired: renew it on the server',
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
};

function whyUnreachable(error: DriverError): string {
  const { code = '', message } = error;
  const sqlstate = getSqlstate(error);
  if (sqlstate === '53300')
    return `has no free connection: ${message} (SQLSTATE 53300); a node opens up to five connections; raise max_connections, or the limit of the role or the database`;
  if (sqlstate !== undefined) return `refused the session: ${message} (SQLSTATE ${sqlstate})`;
  if (/timeout expired|terminated/.test(message)) return 'did not respond in time, or closed the connection';
  if (code === 'ECONNREFUSED') return 'refused the connection: no server listens there (ECONNREFUSED)';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `cannot be resolved: correct the host name (${code})`;
  return `cannot be reached: ${message}`;
}

/** Reads the files of the TLS settings. @throws {PostgresError} `refused` if a file is unreadable or wrong */
function tlsOptions({ mode, rootFile, certificateFile, keyFile }: PostgresTls): ConnectionOptions | false {
  if (mode === 'disable') return false;
  return {
    rejectUnauthorized: mode !== 'require',
    minVersion: 'TLSv1.2',
    ...(rootFile === undefined ? {} : { ca: readCertificates('sslrootcert', rootFile) }),
    ...(certificateFile === undefined || keyFile === undefined ? {} : readPair(certificateFile, keyFile)),
    // Other modes than `verify-full` do not compare the host name with the certificate.
    ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  };
}

function readPair(certificateFile: string, keyFile: string): { cert: string; key: string } {
  const cert = readCertificates('sslcert', certificateFile);
  const key = readSetting('sslkey', keyFile);
  try {
    if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return { cert, key };
  } catch {
    // The code below refuses the file.
  }
  const what = 'does not contain the key of the sslcert file in PEM form without a passphrase';
  throw refusedFile('sslkey', `${what}: ${keyFile}`);
}

/** Reads trusted certificates. Refuses a file without a certificate, instead of falling back to the default roots. */
function readCertificates(parameter: string, file: string): string {
  const text = readSetting(parameter, file);
  if (/-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/.test(text)) return text;
  throw refusedFile(parameter, `contains no certificate in PEM form: ${file}`);
}

function readSetting(parameter: string, file: string): string {
  try {
    return readTextFile(file);
  } catch (error) {
    throw refusedFile(parameter, `cannot be read: ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
}

function refusedFile(parameter: string, why: string): PostgresError {
  return new PostgresError('refused', `The ${parameter} file of the PostgreSQL URL ${why}`);
}
