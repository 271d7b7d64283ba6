import { randomBytes } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newPassword } from '../accounts/passwords.ts';
import { type FirstCredentials, prepareData } from '../accounts/prepare.ts';
import type { Arguments, Terminal } from '../cli/command.ts';
import { UsageError } from '../cli/options.ts';
import { loadHttpEngine } from '../http/engines/runtime.ts';
import { authority } from '../runtime/addresses.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { createLog, type Log, logConsole, shareLogFormat } from '../runtime/log.ts';
import { type BoundListeners, bindListeners } from '../serve/bound-listeners.ts';
import { builtIn } from '../serve/built-in.ts';
import { type Config, loadConfig } from '../serve/config/config.ts';
import { publicUrls } from '../serve/listeners.ts';
import { startService } from '../serve/service.ts';
import { listenToSignals, type Signals, stopService } from '../serve/signals.ts';
import { openAccountTables } from '../storage/lmdb/accounts.ts';
import { type DataLock, lockDataDirectory } from '../storage/lmdb/lock.ts';
import { openUsageTables } from '../storage/lmdb/usage.ts';
import { type Progress, writeHistory } from './history.ts';
import { makeShop, recordUses, shopAge } from './shop.ts';
import { Story, samplePeople } from './story.ts';
import { Traffic } from './traffic.ts';

/*
 * src/demo: a server with a temporary store, for a fictitious shop. features.ts and programs.ts are the tables of the
 * shop. From these tables, story.ts generates visitors and counts at random. history.ts writes the last 90 days, and
 * traffic.ts sends live traffic.
 */

const sources = { clock: systemClock, randomBytes } as const;

interface Demo {
  readonly given: Arguments;
  readonly seed: number;
  readonly log: Log;
  readonly terminal: Terminal;
  readonly signals: Signals;
  /** Time of startup on the monotonic clock, ms. */
  readonly startedAt: number;
  readonly temp: TempData;
  readonly progress: Progress;
}

/** The addresses and credentials of a demo that is ready, as `--json` prints them. */
export interface ReadyDemo extends FirstCredentials {
  readonly url: string;
  /** `HOST:PORT`. */
  readonly grpc: string;
  readonly data: string;
  readonly seconds: number;
}

/**
 * Runs a demo until SIGTERM or SIGINT, and removes its data.
 * @returns exit code: 0 after a signal, 1 after a failure
 * @throws {UsageError} for invalid options
 * @throws {Error} when the temp directory or an address cannot be used
 */
export async function demo(given: Arguments, terminal: Terminal): Promise<number> {
  const startedAt = systemClock.monotonic();
  const seed = readSeed(given.value('seed'));
  const format = terminal.interactive ? 'text' : 'json';
  shareLogFormat(format);
  const log = createLog('warn', terminal.err, systemClock, format);
  const progress = showProgress(terminal, given.has('json'));
  const putConsoleBack = logConsole(log);
  try {
    const signals = listenToSignals(terminal);
    const temp = makeTempData(tmpdir(), systemClock);
    try {
      return await run({ given, seed, log, terminal, signals, startedAt, temp, progress });
    } finally {
      temp.remove();
    }
  } finally {
    putConsoleBack();
  }
}

async function run(demo: Demo): Promise<number> {
  const { toldToStop } = demo.signals;
  const stopping = new AbortController();
  void toldToStop.then(() => stopping.abort());
  const { config, bound } = await bind(demo);
  try {
    return await serve(config, bound, demo, stopping.signal);
  } catch (error) {
    demo.progress.end();
    await bound.close(0);
    if (stopping.signal.aborted) return await toldToStop;
    throw error;
  }
}

/**
 * Binds the requested addresses. If a default port is in use, a free port is used instead, so that a demo can run next
 * to a server.
 * @throws {UsageError} for an address that is not valid, or that needs a public URL
 * @throws {Error} when an address cannot be used
 */
async function bind({ given, temp, log }: Demo): Promise<{ config: Config; bound: BoundListeners }> {
  const engine = await loadHttpEngine();
  const authUrl = given.value('auth-url');
  const bindAt = async (httpPort: number, grpcPort: number) => {
    const listen = given.value('listen') ?? `localhost:${httpPort}`;
    const grpcListen = given.value('grpc-listen') ?? `127.0.0.1:${grpcPort}`;
    const argv = [`--data=${temp.data}`, `--listen=${listen}`, `--grpc-listen=${grpcListen}`];
    if (authUrl !== undefined) argv.push(`--auth-url=${authUrl}`);
    const config = loadConfig({ argv, env: {}, readFile: () => '' });
    return { config, bound: await bindListeners({ config, engine, clock: systemClock, log }) };
  };
  return bindAt(8080, 8081)
    .catch(() => bindAt(8080, 0))
    .catch(() => bindAt(0, 0));
}

async function serve(
  config: Config,
  bound: BoundListeners,
  { seed, log, signals, terminal, temp, given, startedAt, progress }: Demo,
  stopping: AbortSignal,
): Promise<number> {
  const { credentials, accounts, shop, story } = await fill(config, seed, progress, stopping);
  const services = { ...builtIn(), config, accounts, ...sources, log, fatal: signals.fail };
  const service = await startService(services, bound);
  temp.lock.coverFiles();
  const { listener } = bound.listeners[0]!;
  const grpc = authority(bound.grpc.host, bound.grpc.port);
  const nearby = `http://${authority(listener.host, listener.port)}`;
  const traffic = new Traffic({ url: nearby, grpc, shop, story, clock: systemClock });
  const { api: url } = publicUrls(config, bound.listeners);
  const seconds = (systemClock.monotonic() - startedAt) / 1000;
  const ready: ReadyDemo = { ...credentials, url, grpc, data: config.data, seconds };
  progress.end();
  terminal.out(given.has('json') ? `${JSON.stringify(ready)}\n` : welcomeText(ready));
  const code = await signals.toldToStop;
  traffic.stop();
  await stopService(service, config, code);
  return code;
}

/** Writes the store of the demo. @throws {Error} when the disk fails, or when `stopping` is aborted */
async function fill(config: Config, seed: number, progress: Progress, stopping: AbortSignal) {
  // This password need not be replaced: the store is as short-lived as the terminal that shows the password.
  const admin = { adminEmail: 'demo@localhost', adminPassword: newPassword(randomBytes) };
  // The clock starts in the past, because the installation must be older than its data.
  const clock = { ...systemClock, now: () => systemClock.now() - shopAge };
  const credentials = await prepareData(config.data, { ...admin, ...sources, clock });
  const accounts = openAccountTables(config.data);
  const usage = openUsageTables(config.data);
  try {
    const shop = await makeShop(accounts, sources);
    const until = Math.floor(systemClock.now() / 60_000);
    const story = new Story(seed, until);
    const deps = { usage, shop, story, until, config, randomBytes, progress };
    recordUses(accounts, shop, await writeHistory(deps, stopping), until * 60_000);
    return { credentials, accounts, shop, story };
  } catch (error) {
    await accounts.lmdb.close();
    throw error;
  } finally {
    await usage.lmdb.close();
  }
}

function welcomeText({ url, data, seconds, ...demo }: ReadyDemo): string {
  return `flagmeter demo: a fictitious shop with 90 days of history and live traffic. Ready in ${seconds.toFixed(1)} s.

  Open            ${url}/
  E-mail          ${demo.adminEmail}
  Password        ${demo.adminPassword}

  For the API     ${url}/connect/token
  Client id       ${demo.clientId}
  Client secret   ${demo.clientSecret}
  gRPC            ${demo.grpc}

Flags to start with: checkout-redesign (rolled out), basket-layout (an A/B test with a winner),
free-shipping-banner (an A/B test without a winner), legacy-invoice-pdf (no longer in use), chekout-redesign (misspelt).
People: try ${samplePeople[0]}, ${samplePeople[1]} or ${samplePeople[2]}.
Ingest: the key "Partner page" has leaked, and is still being sent.

Ctrl-C stops the demo and removes ${data}.
`;
}

/** @throws {UsageError} */
function readSeed(text = '1'): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`Cannot use --seed ${text}: must be a whole number of up to nine digits`);
}

interface TempData {
  readonly data: string;
  readonly lock: DataLock;
  remove(): void;
}

const prefix = 'flagmeter-demo-';

/**
 * Minimum age of a directory that can be removed. A younger directory can belong to a demo that has not locked it yet.
 */
const minAgeMs = 60_000;

/**
 * Creates a data directory, and removes the directories of killed demos. The new directory is removed at the latest
 * when the process exits.
 * @param parent the temp directory
 * @throws {Error} when it cannot be created
 */
function makeTempData(parent: string, clock: Pick<Clock, 'now'>): TempData {
  removeAbandoned(parent, clock.now());
  const directory = mkdtempSync(join(parent, prefix));
  const erase = () => rmSync(directory, { recursive: true, force: true });
  process.once('exit', erase);
  const data = join(directory, 'data');
  const lock = lockDataDirectory(data);
  const remove = () => {
    lock.release();
    erase();
  };
  return { data, lock, remove };
}

/**
 * Removes the directories of killed demos. Skips directories that running demos have locked, or that cannot be removed.
 */
function removeAbandoned(parent: string, now: number): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(prefix)) continue;
    const directory = join(parent, name);
    try {
      const found = lstatSync(directory);
      const isOwn = found.isDirectory() && found.uid === process.getuid?.();
      if (!isOwn || now - found.mtimeMs < minAgeMs) continue;
      lockDataDirectory(join(directory, 'data')).release();
      rmSync(directory, { recursive: true, force: true });
    } catch {}
  }
}

/** Number of days that each line of plain output covers. */
const lineDays = 30;

/**
 * Reports progress immediately: on a terminal, in one line that is rewritten; otherwise in a few lines on standard
 * output.
 * @param quiet true if a program reads standard output
 */
function showProgress({ interactive, out, err }: Terminal, quiet: boolean): Progress {
  const text = 'Filling a temporary store with sample data';
  if (interactive) {
    err(`${text} …`);
    return { days: (done, total) => err(`\r${text}: ${done} of ${total} days`), end: () => err('\r\x1b[K') };
  }
  if (quiet) return { days: () => {}, end: () => {} };
  out(`${text} …\n`);
  return {
    days: (done, total) => {
      if (done % lineDays === 0) out(`${done} of ${total} days\n`);
    },
    end: () => {},
  };
}
