import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import { readTextFile } from '../../runtime/files.ts';
import { PostgresError, sqlstateOf } from './postgres-error.ts';
import { type PostgresAddress, type PostgresHost, type PostgresTls, showHost } from './postgres-url.ts';
import { Session, streamOf } from './session.ts';

const int8 = 20;
const types = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === int8 ? BigInt : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

/**
 * Settings of each session, independent of the role's defaults, and the first query. Commits wait for the disk and the standby. A frozen
 * or disconnected node releases its locks; other deadlines are the node's. A cancelled wait for the standby is reported as a
 * warning. The driver reads ISO dates only.
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
  /** Shown in `pg_stat_activity`. */
  readonly name: string;
  /** Aborts the attempt. */
  readonly signal: AbortSignal;
  readonly onLost: (why: Error) => void;
}

/**
 * Opens a session with one server.
 * @throws {PostgresError} `unreachable` if it does not answer or is not the primary; `refused`
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
    // A function, because `pg` would look for a missing password in files and variables of its own.
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
  const giveUp = () => streamOf(client).destroy();
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
    throw new PostgresError(code, `${showHost(host)} ${what}`, sqlstateOf(error));
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

/** Explains a configuration error by SQLSTATE or system code; `undefined` for others. */
function whyRefused(error: DriverError, { user, password, database }: PostgresAddress): string | undefined {
  const sqlstate = sqlstateOf(error);
  const shown = JSON.stringify(user);
  if (sqlstate === '28P01')
    return `rejects the password of user ${shown} (SQLSTATE 28P01): correct it in the URL`;
  if (sqlstate === '28000') return `rejects user ${shown} (SQLSTATE 28000): ${error.message}`;
  if (sqlstate === '3D000')
    return `has no database ${JSON.stringify(database)} (SQLSTATE 3D000): create it, or correct the URL`;
  if (sqlstate !== undefined && /^(22|42)/.test(sqlstate))
    return `rejects the options of the URL: ${error.message} (SQLSTATE ${sqlstate})`;
  if (/password must be a/.test(error.message) && password === undefined)
    return `requires a password for user ${shown}, but the URL has none`;
  if (/does not support SSL/.test(error.message))
    return 'does not offer TLS: turn it on there, or use sslmode=disable in the URL if the network is safe';
  if (/alert.(unknown.ca|(bad|unsupported).certificate|certificate)/i.test(error.message))
    return `rejects the certificate of sslcert: ${error.message}`;
  const certificate = certificateProblems[error.code ?? ''];
  return certificate && `cannot be trusted: ${certificate} (${error.code})`;
}

const untrusted = 'its certificate is not signed by a trusted root: set sslrootcert to the file of the root';

const certificateProblems: Readonly<Record<string, string | undefined>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name: use that name in the URL',
  CERT_HAS_EXPIRED: 'its certificate has expired: renew it there',
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
};

function whyUnreachable(error: DriverError): string {
  const { code = '', message } = error;
  const sqlstate = sqlstateOf(error);
  if (sqlstate === '53300')
    return `has no free connection: ${message} (SQLSTATE 53300); a node opens up to five: raise max_connections, or the limit of the role or the database`;
  if (sqlstate !== undefined) return `refused the session: ${message} (SQLSTATE ${sqlstate})`;
  if (/timeout expired|terminated/.test(message)) return 'did not answer in time, or closed the connection';
  if (code === 'ECONNREFUSED') return 'refused the connection: no server listens there (ECONNREFUSED)';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `cannot be resolved: correct the host name (${code})`;
  return `cannot be reached: ${message}`;
}

/** @throws {PostgresError} `refused` if a file cannot be read, or its content is wrong */
function tlsOptions({ mode, rootFile, certificateFile, keyFile }: PostgresTls): ConnectionOptions | false {
  if (mode === 'disable') return false;
  return {
    rejectUnauthorized: mode !== 'require',
    minVersion: 'TLSv1.2',
    ...(rootFile === undefined ? {} : { ca: readCertificates('sslrootcert', rootFile) }),
    ...(certificateFile === undefined || keyFile === undefined ? {} : readPair(certificateFile, keyFile)),
    // The difference between `verify-full` and `verify-ca`.
    ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  };
}

function readPair(certificateFile: string, keyFile: string): { cert: string; key: string } {
  const cert = readCertificates('sslcert', certificateFile);
  const key = read('sslkey', keyFile);
  try {
    if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return { cert, key };
  } catch {
    // Refused below.
  }
  const what = 'does not contain the key of the sslcert file in PEM form without a passphrase';
  throw refused('sslkey', `${what}: ${keyFile}`);
}

/** Refuses a file without a certificate: it must not be ignored in favour of the default roots. */
function readCertificates(parameter: string, file: string): string {
  const text = read(parameter, file);
  if (/-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/.test(text)) return text;
  throw refused(parameter, `contains no certificate in PEM form: ${file}`);
}

function read(parameter: string, file: string): string {
  try {
    return readTextFile(file);
  } catch (error) {
    throw refused(parameter, `cannot be read: ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
}

function refused(parameter: string, why: string): PostgresError {
  return new PostgresError('refused', `The ${parameter} file of the PostgreSQL URL ${why}`);
}
