import { isIP, isIPv6 } from 'node:net';

/** A host of PostgreSQL. If it begins with `/`, it is the directory of a Unix socket. */
export interface PostgresHost {
  readonly host: string;
  readonly port: number;
}

export const tlsModes = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
type TlsMode = (typeof tlsModes)[number];

/** TLS settings. Files are read when a session is opened. */
export interface PostgresTls {
  /** `require` encrypts without verifying the server. */
  readonly mode: TlsMode;
  /** PEM file with trusted root certificates; by default, the system's root certificates. */
  readonly rootFile: string | undefined;
  /** PEM files with the client's certificate and key. */
  readonly certificateFile: string | undefined;
  readonly keyFile: string | undefined;
}

export interface PostgresAddress {
  readonly hosts: readonly PostgresHost[];
  readonly database: string;
  readonly user: string;
  readonly password: string | undefined;
  readonly tls: PostgresTls;
  readonly connectTimeoutMs: number;
  /** Command-line options of the session, such as `-c search_path=flagmeter`. */
  readonly options: string | undefined;
}

/** Error for an invalid URL. The message does not repeat anything that could be part of the password. */
export class PostgresUrlError extends Error {
  override readonly name = 'PostgresUrlError';
}

const form =
  'Expected form: postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?sslmode=verify-full&sslrootcert=FILE';

/** The known parameters and their defaults. An empty parameter counts as omitted. */
const defaults = {
  sslmode: '',
  sslrootcert: '',
  sslcert: '',
  sslkey: '',
  connect_timeout: '3',
  options: '',
  target_session_attrs: 'read-write',
};
type Parameters = Readonly<typeof defaults>;

/**
 * Parses a URL as `psql` does, with several hosts, percent-encoding, and IPv6 addresses in brackets.
 * @throws {PostgresUrlError}
 */
export function parsePostgresUrl(text: string): PostgresAddress {
  const url = text.trim();
  if (!/^postgres(ql)?:\/\//.test(url)) fail(`The PostgreSQL URL must begin with postgres://. ${form}`);
  const parts = /^\w+:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(url);
  const [, authority = '', path = '', query = ''] =
    parts ?? fail('The PostgreSQL URL contains a #. In a password, write %23 for it');
  const [login = '', list, ...more] = authority.split('@');
  if (more.length > 0 || `${path}${query}`.includes('@'))
    fail(
      'The PostgreSQL URL has an unexpected @. In a user or password, write %40 for @, %2F for /, %3F for ?, %23 for # and %25 for %',
    );
  const [, name = '', secret = ''] = /^([^:]*):?(.*)$/s.exec(login)!;
  const user = list === undefined ? '' : decode(name, 'the user');
  if (user === '') fail(`The PostgreSQL URL names no user. ${form}`);
  const password = decode(secret, 'the password') || undefined;
  const parameters = parseParameters(query);
  const hosts = list!.split(',').map(parseHost);
  const database = decode(path, 'the database');
  if (database === '') fail(`The PostgreSQL URL names no database. ${form}`);
  const seconds = Number(parameters.connect_timeout);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 60)
    fail('connect_timeout in the PostgreSQL URL must be a whole number of seconds from 1 to 60');
  return {
    hosts,
    database,
    user,
    password,
    tls: parseTls(parameters, hosts),
    connectTimeoutMs: seconds * 1000,
    options: parameters.options || undefined,
  };
}

/** Returns the URL without the password and the parameters, for messages. */
export function showPostgres({ user, hosts, database }: PostgresAddress): string {
  const shown = hosts.map(showHost).join(',');
  return `postgres://${encodeURIComponent(user)}@${shown}/${encodeURIComponent(database)}`;
}

/** Returns `HOST:PORT` as in a URL. */
export function showHost({ host, port }: PostgresHost): string {
  if (host.startsWith('/')) return `${encodeURIComponent(host)}:${port}`;
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

function parseHost(text: string, index: number): PostgresHost {
  const which = `Host ${index + 1} in the PostgreSQL URL`;
  const [, name = '', digits = ''] =
    /^(\[[^\]]*\]|[^:]*)(?::([^:]*))?$/.exec(text) ??
    fail(`${which} has more than one colon: write an IPv6 address in brackets, as in [::1]:5432`);
  const port = digits === '' ? 5432 : Number(digits);
  if (!/^\d{0,5}$/.test(digits) || port < 1 || port > 65_535)
    fail(`${which} has a port that is not a number from 1 to 65535`);
  const isBracketed = name.startsWith('[');
  const host = decode(isBracketed ? name.slice(1, -1) : name, which);
  if (isBracketed && !isIPv6(host)) fail(`${which} has no IPv6 address in its brackets`);
  if (!host.startsWith('/') && isIP(host) === 0 && !/^[\w-]+(\.[\w-]+)*\.?$/.test(host))
    fail(`${which} is not a host name or an address`);
  return { host, port };
}

/** Parses the parameters. Errors do not show unknown names, which can be part of an unencoded password. */
function parseParameters(query: string): Parameters {
  const found: Partial<Record<string, string>> = {};
  for (const pair of query.split('&').filter((each) => each !== '')) {
    const [, encoded = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(pair)!;
    const name = decode(encoded, 'a parameter');
    if (!Object.hasOwn(defaults, name))
      fail(`The PostgreSQL URL has an unknown parameter. Known are ${Object.keys(defaults).join(', ')}`);
    if (Object.hasOwn(found, name)) fail(`The PostgreSQL URL has the parameter ${name} twice`);
    found[name] = decode(value, name);
  }
  const all = { ...defaults, ...found };
  if (!['read-write', 'primary'].includes(all.target_session_attrs))
    fail('target_session_attrs in the PostgreSQL URL must be read-write or primary');
  return all;
}

/** Parses the TLS settings. By default, TLS is disabled only if all hosts are local and `sslrootcert` is not set. */
function parseTls(parameters: Parameters, hosts: readonly PostgresHost[]): PostgresTls {
  const { sslrootcert, sslcert, sslkey } = parameters;
  const [root, certificateFile, keyFile] = [sslrootcert, sslcert, sslkey].map((file) => file || undefined);
  const unnamed = root === undefined && hosts.every(isLocal) ? 'disable' : 'verify-full';
  const mode = (parameters.sslmode || unnamed) as TlsMode;
  if (!tlsModes.includes(mode)) fail(`sslmode in the PostgreSQL URL must be one of ${tlsModes.join(', ')}`);
  if (root !== undefined && (mode === 'disable' || mode === 'require'))
    fail(`The PostgreSQL URL has sslrootcert, which sslmode=${mode} does not use: use sslmode=verify-full`);
  if ((certificateFile === undefined) !== (keyFile === undefined))
    fail('The PostgreSQL URL must have both sslcert and sslkey, or neither');
  return { mode, rootFile: root === 'system' ? undefined : root, certificateFile, keyFile };
}

function isLocal({ host }: PostgresHost): boolean {
  return host.startsWith('/') || host === 'localhost' || host === '::1' || /^127\./.test(host);
}

function decode(text: string, what: string): string {
  try {
    const decoded = decodeURIComponent(text);
    if (!decoded.includes('\0')) return decoded;
  } catch {
    // The code below refuses the value.
  }
  return fail(`${what} in the PostgreSQL URL has invalid percent-encoding: write %25 for %`);
}

function fail(message: string): never {
  throw new PostgresUrlError(message);
}
