import { writeSync } from 'node:fs';
import util from 'node:util';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import type { Settings } from '../contract/config-schema.ts';
import { replaceActive } from '../contract/escaping.ts';
import { type Clock, systemClock } from './clock.ts';

export type LogLevel = Settings['logLevel'];
type LogFormat = NonNullable<Settings['logFormat']>;
/** The fields of a line, in addition to its message. A field whose name suggests a secret is redacted. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Writes one line at a time. A message is a constant text. Variable parts are fields. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];
const maxDepth = 4;

/**
 * Creates the log. A line is the JSON object `{"time","level","msg",…fields}` with `time` in RFC 3339 UTC, or the same
 * object formatted as text.
 * @param level the lowest level that is written; specify a function if the level can change
 * @param write receives one line with its newline
 */
export function createLog(
  level: LogLevel | (() => LogLevel),
  write: (line: string) => void,
  clock: Pick<Clock, 'now'>,
  format: LogFormat = 'json',
): Log {
  const written = format === 'json' ? (line: LogLine) => JSON.stringify(line) : logText;
  const lowest = typeof level === 'function' ? level : () => level;
  const at = (own: LogLevel) => {
    return (message: string, fields: LogFields = {}) => {
      if (levels.indexOf(own) < levels.indexOf(lowest())) return;
      const head = { time: new Date(clock.now()).toISOString(), level: own, msg: message };
      write(`${written({ ...head, ...plainFields(fields, 0), ...head })}\n`);
    };
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

function plainFields(fields: object, depth: number): Record<string, unknown> {
  const pairs = Object.entries(fields).map(([name, value]) => {
    const secret = isSecretName(name) && value !== undefined && value !== null;
    return [name, secret ? '[redacted]' : plain(value, depth)];
  });
  return Object.fromEntries(pairs);
}

/** Converts a value to plain JSON data, down to `maxDepth`. A log call must never throw. */
function plain(value: unknown, depth: number): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return rounded(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (depth >= maxDepth) return '[deeper]';
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1));
  if (value instanceof Error) {
    const { name, message, cause } = value;
    const stack = isExplained(value) ? undefined : value.stack;
    return plainFields({ ...value, name, message, stack, cause }, depth + 1);
  }
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  return plainFields(value, depth + 1);
}

/**
 * True if an error is logged without its stack: a failure of the disk, the network or a database, which has a `code`.
 * Other errors are defects, even with a code of the runtime (`ERR_…`). Their stack shows the location.
 */
function isExplained({ code }: Error & { readonly code?: unknown }): boolean {
  return typeof code === 'number' || (typeof code === 'string' && !code.startsWith('ERR_'));
}

/** Rounds to three decimals, or to three significant digits below one. More digits of a duration are noise. */
function rounded(value: number): number {
  if (Number.isInteger(value) || !Number.isFinite(value)) return value;
  return Number(Math.abs(value) < 1 ? value.toPrecision(3) : value.toFixed(3));
}

const secretWords = new Set(
  'authorization cookie credential credentials identities identity key keys passphrase password secret secrets token tokens'.split(
    ' ',
  ),
);
/** Last words of field names that are not secret, such as `keyId` and `tokenCount`. */
const harmlessEndings = new Set(['id', 'type', 'count']);

/** True if the name of a field, in any spelling, suggests a secret, like clientSecret, app_key, Set-Cookie and `k`. */
function isSecretName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  if (['instance id', 'k', 'i', 'u'].includes(words.join(' '))) return true;
  return words.some((word) => secretWords.has(word)) && !harmlessEndings.has(words.at(-1) ?? '');
}

/** Formats a line of the log for people. */
function logText({ time, level, msg, ...fields }: LogLine): string {
  const stacks: string[] = [];
  const pairs = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${harmless(name)}=${shown(value, stacks)}`);
  const head = `${time} ${level.toUpperCase().padEnd(5)} ${harmless(msg)}`;
  return [[head, ...pairs].join(' '), ...stacks].join('\n');
}

interface LogLine {
  readonly time: string;
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

interface LoggedError {
  readonly name: string;
  readonly message: string;
  readonly stack: unknown;
  readonly cause?: unknown;
}

const word = /^[\w.:;,/@+*%-]+$/;

/** Formats a value. Appends its stack traces to `stacks`, to be printed on separate lines. */
function shown(value: unknown, stacks: string[]): string {
  if (isError(value)) {
    stacks.push(...placesIn(value.stack).map((line) => `    ${harmless(line.trim())}`));
    return quoted(whatHappened(value));
  }
  if (typeof value === 'string') return word.test(value) ? value : quoted(value);
  return harmless(JSON.stringify(value) ?? 'null');
}

function isError(value: unknown): value is LoggedError {
  return typeof value === 'object' && value !== null && ['name', 'message', 'stack'].every((key) => key in value);
}

function whatHappened({ name, message, cause }: LoggedError): string {
  const why = isError(cause) ? whatHappened(cause) : cause;
  return `${name}: ${message}${why === undefined ? '' : ` (cause: ${String(why)})`}`;
}

function placesIn(stack: unknown): readonly string[] {
  return typeof stack === 'string' ? stack.split('\n').filter((line) => /^\s*at /.test(line)) : [];
}

function quoted(text: string): string {
  return harmless(JSON.stringify(text));
}

/** Escapes control characters, so that no field can start a new line. */
function harmless(text: string): string {
  return replaceActive(text, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Redirects console output of libraries to the log, with one line for each output. For example, lmdb prints the error
 * of a failed commit to the console on several lines.
 * @returns a function that restores the console
 */
export function logConsole(log: Log, target: Console = console): () => void {
  const { error, warn, info, log: print, debug } = target;
  const into =
    (level: keyof Log) =>
    (...said: unknown[]) =>
      log[level]('console output of a library', { text: util.format(...said) }); // Loads Bun's formatter on first use.
  const own = { error: into('error'), warn: into('warn'), info: into('info'), log: into('info') };
  Object.assign(target, { ...own, debug: into('debug') });
  return () => void Object.assign(target, { error, warn, info, log: print, debug });
}

const standardError = 2;
const name = 'flagmeter log format';

/** Sets the format for threads that start from now on. */
export function shareLogFormat(format: LogFormat): void {
  setEnvironmentData(name, format);
}

/** Creates the log of a worker thread on standard error, in the process's format. @param level as for `createLog` */
export function threadLog(level: LogLevel | (() => LogLevel)): Log {
  const format = (getEnvironmentData(name) as LogFormat | undefined) ?? 'json';
  return createLog(level, write, systemClock, format);
}

/** Writes a line to standard error. Drops the line if standard error is a closed or full pipe. */
function write(line: string): void {
  try {
    writeSync(standardError, line);
  } catch {
    // The line is dropped.
  }
}

export function logThreadConsole(): void {
  logConsole(threadLog('info'));
}
