import { readdirSync, statSync } from 'node:fs';
import { cpus, freemem, release, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import type { Arguments, Terminal } from '../../cli/command.ts';
import { createContext } from '../../cli/context.ts';
import { readServerUrl } from '../../cli/server-url.ts';
import { makeTable } from '../../cli/show.ts';
import { type Setting, settings } from '../../contract/config-schema.ts';
import { parsePostgresUrl, showPostgres } from '../../replication/postgres/postgres-url.ts';
import { authority, parseAddress } from '../../runtime/addresses.ts';
import { systemClock } from '../../runtime/clock.ts';
import { usableCores } from '../../runtime/cores.ts';
import { createFile, findStatus } from '../../runtime/files.ts';
import { type Config, loadConfig } from '../../serve/config/config.ts';
import { diskSpace } from '../../storage/lmdb/disk.ts';
import { findDirectoryUser } from '../../storage/lmdb/lock.ts';
import { standardStream } from './backup-source.ts';
import { readLogTail } from './log-tail.ts';
import { describeProgram } from './program.ts';
import { mebibytes } from './progress.ts';
import { readConfig } from './server-options.ts';

interface Section {
  readonly name: string;
  readonly contents: string;
  readonly text: string;
}

/**
 * Writes a file that describes a server for the people who help with it. The file contains no secret.
 * @throws {UsageError} for wrong options
 * @throws {Error} if the file exists, or cannot be written
 */
export async function support(given: Arguments, terminal: Terminal): Promise<number> {
  const at = new Date(systemClock.now()).toISOString();
  const file = given.value('out') ?? `flagmeter-support-${at.slice(0, 19).replaceAll(':', '-')}Z.txt`;
  const sections = await collect(given, terminal, at);
  const text = sections.map((section) => `== ${section.name} ==\n${section.text.trimEnd()}\n`).join('\n');
  if (file === standardStream) terminal.out(text);
  else createFile(file, text);
  const list = sections.map(({ name, contents, text: { length } }) => ({ name, bytes: length, contents }));
  // Standard output can contain the bundle itself, so the list then goes to standard error.
  const report = file === standardStream ? terminal.err : terminal.out;
  report(given.has('json') ? `${JSON.stringify({ file, sections: list })}\n` : summarize(file, list, terminal));
  return 0;
}

const headings = [{ title: 'SECTION' }, { title: 'SIZE', right: true }, { title: 'CONTENTS', cut: true }] as const;

function summarize(
  file: string,
  sections: readonly { readonly name: string; readonly bytes: number; readonly contents: string }[],
  terminal: Terminal,
): string {
  const rows = sections.map(({ name, bytes, contents }) => [name, `${(bytes / 1024).toFixed(1)} KiB`, contents]);
  const { text } = makeTable(headings, rows, createContext(terminal));
  const where =
    file === standardStream ? '' : `\n${resolve(file)} is plain text without secrets: read it before you send it.\n`;
  return text + where;
}

async function collect(given: Arguments, terminal: Terminal, at: string): Promise<readonly Section[]> {
  const config = attempt(() => readConfig(given, terminal));
  const url = given.has('url') ? readServerUrl(given.value('url')!, '--url') : undefined;
  const known = config instanceof Error ? readData(given, terminal) : config;
  const get = (path: string) => fetchText(`${url ?? findAddress(known)}${path}`);
  const log = attempt(() => readLogTail(given.value('log')));
  return [
    { name: 'version', contents: 'program and machine', text: describeMachine(at) },
    { name: 'settings', contents: 'settings without secrets', text: show(config, formatSettings) },
    { name: 'files', contents: 'sizes of the files in the data directory', text: show(known, formatFiles) },
    {
      name: 'health',
      contents: 'responses of /healthz and /readyz',
      text: `${await get('/healthz')}\n${await get('/readyz')}`,
    },
    { name: 'metrics', contents: 'response of /metrics', text: await get('/metrics') },
    {
      name: 'log',
      contents: 'latest lines of the log',
      text: show(log, (lines) => lines ?? 'unknown: name the file of the log with --log'),
    },
  ];
}

/** Reads only the data directory, because another setting is wrong. The address is then the default address. */
function readData(given: Arguments, terminal: Terminal): Config {
  const data = given.value('data') ?? terminal.env['FLAGMETER_DATA'];
  return loadConfig({ ...terminal, argv: data === undefined ? [] : [`--data=${data}`], env: {} });
}

function attempt<T>(read: () => T): T | Error {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
}

/** Formats what was read, or the reason why it was not read. */
function show<T>(read: T | Error, format: (value: T) => string): string {
  const text = read instanceof Error ? read : attempt(() => format(read));
  // Messages can contain URLs with a secret in the query, which the people who read this file must not see.
  return text instanceof Error ? text.message.replaceAll(/(\b\w+:\/\/[^\s?#]*)[?#]\S*/g, '$1?…') : text;
}

function describeMachine(at: string): string {
  const memory = `${mebibytes(freemem())} free of ${mebibytes(totalmem())}`;
  const processor = `${cpus()[0]?.model ?? 'unknown processor'}, ${usableCores()} usable cores`;
  return `${describeProgram()}\ntime     ${at}\nkernel   ${release()}\nmachine  ${processor}\nmemory   ${memory}`;
}

function formatSettings(config: Config): string {
  return settings
    .flatMap((setting) => {
      const value = config[setting.key];
      return value === undefined ? [] : [`${setting.option} = ${showValue(setting, value)}\n`];
    })
    .join('');
}

/** Omits the paths of files, because an option for a path can contain the secret itself by mistake. */
function showValue({ key, schema }: Setting, value: string | number | boolean): string {
  if (key === 'postgres')
    return show(
      attempt(() => parsePostgresUrl(String(value))),
      showPostgres,
    );
  return schema.value === 'FILE' && key !== 'config' ? '(a file)' : String(value);
}

function formatFiles({ data }: Config): string {
  if (!findStatus(data)?.isDirectory()) throw new Error(`Cannot read ${data}: not a directory; name it with --data`);
  const { size, free } = diskSpace(data);
  const files = readdirSync(data, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()
    .map((path) => `${mebibytes(statSync(path).size).padStart(12)}  ${path}\n`);
  const user = findDirectoryUser(data) ?? 'no process';
  return `${data}: used by ${user}; ${mebibytes(free)} free of ${mebibytes(size)}\n${files.join('')}`;
}

/** Returns the address where this machine reaches the server. */
function findAddress({ opsListen, apiListen, listen, tlsCert }: Config): string {
  const { host, port } = parseAddress(opsListen ?? apiListen ?? listen);
  const local = ['', '0.0.0.0'].includes(host) ? '127.0.0.1' : host === '::' ? '::1' : host;
  const scheme = tlsCert === undefined || opsListen !== undefined ? 'http' : 'https';
  return `${scheme}://${authority(local, port)}`;
}

const timeoutMs = 5000;
const mostCharacters = 4 * 1024 * 1024;

async function fetchText(url: string): Promise<string> {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    return `GET ${url}: ${response.status}\n${(await response.text()).slice(0, mostCharacters)}`;
  } catch (error) {
    return `GET ${url}: failed (${(error as Error).message}); name the server with --url`;
  }
}
