import { isIP, isIPv6 } from 'node:net';

/** One server of the engine. A `host` that begins with `/` is the folder of a Unix socket. */
export interface EngineHost {
  readonly host: string;
  readonly port: number;
}

export const tlsModes = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
export type TlsMode = (typeof tlsModes)[number];

/** How sessions are encrypted. Files are read when a session is opened. */
export interface EngineTls {
  /** `require` encrypts and does not verify who answers. */
  readonly mode: TlsMode;
  /** PEM file with the roots to trust; without it those of the system. */
  readonly rootFile: string | undefined;
  /** PEM files with the client's own certificate and key. */
  readonly certificateFile: string | undefined;
  readonly keyFile: string | undefined;
}

/** Where the engine is, and as which user to speak to it. */
export interface EngineAddress {
  readonly hosts: readonly EngineHost[];
  readonly database: string;
  readonly user: string;
  readonly password: string | undefined;
  readonly tls: EngineTls;
  readonly connectTimeoutMs: number;
  /** Command-line options for the session, such as `-c search_path=flagmeter`. */
  readonly options: string | undefined;
}

/** What is wrong with an engine's URL. Its message shows nothing of the URL that could be a part of the password. */
export class EngineUrlError extends Error {
  override readonly name = 'EngineUrlError';
}

const shape = 'postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?sslmode=verify-full&sslrootcert=FILE';
const defaultPort = 5432;
const defaultConnectTimeoutSeconds = 3;
const parameterNames = [
  ...(['sslmode', 'sslrootcert', 'sslcert', 'sslkey'] as const),
  ...(['connect_timeout', 'options', 'target_session_attrs'] as const),
] as const;
type ParameterName = (typeof parameterNames)[number];
type Parameters = ReadonlyMap<ParameterName, string>;

/**
 * Reads a URL as `psql` takes it: several hosts, percent-encoding, IPv6 addresses in brackets.
 * @throws {EngineUrlError}
 */
export function parseEngineUrl(text: string): EngineAddress {
  const parts = /^postgres(?:ql)?:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(text.trim());
  if (parts === null) throw new EngineUrlError(whyNoUrl(text.trim()));
  const [, authority = '', path = '', query = ''] = parts;
  const at = authority.lastIndexOf('@');
  if (authority.indexOf('@') !== at || `${path}${query}`.includes('@'))
    throw new EngineUrlError(rawCharacter);
  if (at === -1) throw new EngineUrlError(`The engine's URL names no user. Its form is ${shape}`);
  const { user, password } = parseUser(authority.slice(0, at));
  const parameters = parseParameters(query);
  const hosts = authority
    .slice(at + 1)
    .split(',')
    .map((host, index) => parseHost(host, index));
  const database = decode(path, 'the database');
  if (database === '') throw new EngineUrlError(`The engine's URL names no database. Its form is ${shape}`);
  return {
    ...{ hosts, database, user, password },
    tls: parseTls(parameters, hosts),
    connectTimeoutMs: parseTimeout(parameters.get('connect_timeout')) * 1000,
    options: parameters.get('options'),
  };
}

/** The URL without the password and the parameters, to be shown. */
export function showEngine({ user, hosts, database }: EngineAddress): string {
  const shown = hosts.map(showHost).join(',');
  return `postgres://${encodeURIComponent(user)}@${shown}/${encodeURIComponent(database)}`;
}

/** `HOST:PORT`, as a URL has it. */
export function showHost({ host, port }: EngineHost): string {
  if (host.startsWith('/')) return `${encodeURIComponent(host)}:${port}`;
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

const rawCharacter =
  "The engine's URL has an @ where none belongs. In a user or password write %40 for @, %2F for /, %3F for ?, %23 for # and %25 for %";

function whyNoUrl(text: string): string {
  if (/^postgres(ql)?:\/\//.test(text))
    return "The engine's URL has a # in it. In a password write %23 for it";
  return `The engine's URL must begin with postgres://. Its form is ${shape}`;
}

function parseUser(text: string): { user: string; password: string | undefined } {
  const colon = text.indexOf(':');
  const user = decode(colon === -1 ? text : text.slice(0, colon), 'the user');
  if (user === '') throw new EngineUrlError(`The engine's URL names no user. Its form is ${shape}`);
  const password = colon === -1 ? '' : decode(text.slice(colon + 1), 'the password');
  return { user, password: password === '' ? undefined : password };
}

function parseHost(text: string, index: number): EngineHost {
  const which = `Host ${index + 1} of the engine's URL`;
  const parts = /^(\[[^\]]*\]|[^:]*)(?::([^:]*))?$/.exec(text);
  if (parts === null)
    throw new EngineUrlError(
      `${which} has more than one colon: an IPv6 address stands in brackets, as in [::1]:5432`,
    );
  const [, name = '', digits = ''] = parts;
  const port = digits === '' ? defaultPort : /^\d{1,5}$/.test(digits) ? Number(digits) : 0;
  if (port < 1 || port > 65_535)
    throw new EngineUrlError(`${which} has a port that is not a number from 1 to 65535`);
  const host = decode(name.replace(/^\[(.*)\]$/, '$1'), which);
  if (name.startsWith('[') && !isIPv6(host))
    throw new EngineUrlError(`${which} has no IPv6 address in its brackets`);
  if (!isHost(host)) throw new EngineUrlError(`${which} is not a host name or an address`);
  return { host, port };
}

function isHost(host: string): boolean {
  return host.startsWith('/') || isIP(host) !== 0 || /^[\w-]+(\.[\w-]+)*\.?$/.test(host);
}

function parseParameters(query: string): Parameters {
  const found = new Map<ParameterName, string>();
  for (const pair of query.split('&').filter((each) => each !== '')) {
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals), 'a parameter') as ParameterName;
    const problem = found.has(name) ? 'twice' : 'which is not known';
    if (found.has(name) || !parameterNames.includes(name))
      throw new EngineUrlError(
        `The engine's URL has the parameter ${JSON.stringify(name)} ${problem}. Known are ${parameterNames.join(', ')}`,
      );
    found.set(name, equals === -1 ? '' : decode(pair.slice(equals + 1), name));
  }
  const target = found.get('target_session_attrs') ?? 'read-write';
  if (!['read-write', 'primary'].includes(target))
    throw new EngineUrlError("target_session_attrs of the engine's URL must be read-write or primary");
  return found;
}

/** Whoever names roots wants them used. Without TLS is the default only where nothing leaves the machine. */
function parseTls(parameters: Parameters, hosts: readonly EngineHost[]): EngineTls {
  const file = (name: ParameterName) => parameters.get(name) || undefined;
  const root = file('sslrootcert');
  const local = root === undefined && hosts.every(isLocal) ? 'disable' : 'verify-full';
  const mode = (parameters.get('sslmode') ?? local) as TlsMode;
  if (!tlsModes.includes(mode))
    throw new EngineUrlError(`sslmode of the engine's URL must be one of ${tlsModes.join(', ')}`);
  if (root !== undefined && (mode === 'disable' || mode === 'require'))
    throw new EngineUrlError(
      `The engine's URL names sslrootcert, which sslmode=${mode} does not use: say sslmode=verify-full`,
    );
  const [certificateFile, keyFile] = [file('sslcert'), file('sslkey')];
  if ((certificateFile === undefined) !== (keyFile === undefined))
    throw new EngineUrlError("The engine's URL must name both sslcert and sslkey, or none of them");
  return { mode, rootFile: root === 'system' ? undefined : root, certificateFile, keyFile };
}

function isLocal({ host }: EngineHost): boolean {
  return host.startsWith('/') || host === 'localhost' || host === '::1' || /^127\./.test(host);
}

function parseTimeout(text: string | undefined): number {
  const seconds = text === undefined ? defaultConnectTimeoutSeconds : Number(text);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 60)
    throw new EngineUrlError(
      "connect_timeout of the engine's URL must be a whole number of seconds from 1 to 60",
    );
  return seconds;
}

function decode(text: string, what: string): string {
  try {
    const decoded = decodeURIComponent(text);
    if (!decoded.includes('\0')) return decoded;
  } catch {
    // It is said below.
  }
  throw new EngineUrlError(`${what} in the engine's URL is not percent-encoded rightly: write %25 for %`);
}
