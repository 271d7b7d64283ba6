import { basename, relative, resolve, sep } from 'node:path';
import { checkPrepared, openPrepared, prepareData } from '../../accounts/prepare.ts';
import type { ConfiguredProviders } from '../../auth/sso/providers.ts';
import type { Terminal } from '../../cli/command.ts';
import { usualUrl } from '../../cli/server-url.ts';
import { loadDescriptors, loadHttpEngine } from '../../http/engines/runtime.ts';
import { authority } from '../../runtime/addresses.ts';
import { systemClock } from '../../runtime/clock.ts';
import { reserveDescriptors } from '../../runtime/descriptor-reserve.ts';
import { createLog, type Log, type LogLevel, logConsole, shareLogFormat } from '../../runtime/log.ts';
import { randomBytes } from '../../runtime/random-bytes.ts';
import { type BoundListeners, bindListeners } from '../../serve/bound-listeners.ts';
import { builtIn } from '../../serve/built-in.ts';
import { type Config, loadConfig, serviceLinksIn, warnOfOpenFiles } from '../../serve/config/config.ts';
import { readProviderFile } from '../../serve/config/provider-file.ts';
import { publicUrls, type ServedHost } from '../../serve/listeners.ts';
import { forgetPasswordRequests } from '../../serve/password-reset.ts';
import { startService } from '../../serve/service.ts';
import { leave, listenToSignals, type Reloadable, reload, type Signals, stopService } from '../../serve/signals.ts';
import { type AccountTables, openAccountTables } from '../../storage/lmdb/accounts.ts';
import { willHave } from '../../storage/lmdb/data-directory.ts';
import { lockDataDirectory } from '../../storage/lmdb/lock.ts';
import { credentialsText } from './administrator.ts';

/**
 * Runs the server until SIGTERM or SIGINT, or until its store fails.
 * @returns exit code: 0 after a signal, 1 after a failure
 * @throws {UsageError} for wrong settings
 * @throws {Error} when the data directory or an address cannot be used
 */
export async function serve(argv: readonly string[], terminal: Terminal): Promise<number> {
  if (argv.includes('--check')) {
    const { checkServe } = await import('./check-serve.ts');
    return checkServe(
      argv.filter((each) => each !== '--check'),
      terminal,
    );
  }
  const load = () => loadConfig({ argv, env: terminal.env, readFile: terminal.readFile });
  const config = load();
  const format = config.logFormat ?? (terminal.interactive ? 'text' : 'json');
  const isWatched = terminal.interactive && format === 'text';
  shareLogFormat(format);
  let level = config.logLevel;
  const log = createLog(() => level, terminal.err, systemClock, format);
  const setLogLevel = (wanted: LogLevel) => {
    level = wanted;
  };
  const putConsoleBack = logConsole(log);
  try {
    warnOfServiceLinks(terminal, log);
    warnOfOpenFiles(config, log);
    const signals = listenToSignals(terminal);
    return await bindAndServe({ config, load, log, setLogLevel, terminal, isWatched, signals });
  } finally {
    putConsoleBack();
  }
}

interface ServeContext {
  readonly config: Config;
  readonly load: () => Config;
  readonly log: Log;
  readonly setLogLevel: (level: LogLevel) => void;
  readonly terminal: Terminal;
  /** True if a person reads the log. Text for this person replaces the lines about the start. */
  readonly isWatched: boolean;
  readonly signals: Signals;
}

/** Binds the listeners, and then serves. Errors of files and addresses are reported before any data is prepared. */
async function bindAndServe(serving: ServeContext): Promise<number> {
  const { config, load, log, setLogLevel, signals } = serving;
  const providers = readProviderFile(config, systemClock);
  const [engine, descriptors] = await Promise.all([loadHttpEngine(), loadDescriptors()]);
  if (descriptors !== undefined) reserveDescriptors();
  const bound = await bindListeners({ config, engine, descriptors, clock: systemClock, log });
  const reloadable: Reloadable = { bound, log, setLogLevel, setProviders: undefined, set: undefined };
  let reloading = Promise.resolve(config);
  signals.onHangUp(() => {
    reloading = reloading.then((running) => reload(running, load, reloadable));
  });
  try {
    return await serveOn(bound, { ...serving, providers }, reloadable);
  } catch (error) {
    await bound.close(0);
    throw error;
  }
}

async function serveOn(
  bound: BoundListeners,
  serving: ServeContext & { readonly providers: ConfiguredProviders },
  reloadable: Reloadable,
): Promise<number> {
  const { config, providers, log, signals } = serving;
  if (config.existing) checkPrepared(config.data, willHave);
  const lock = lockDataDirectory(config.data);
  try {
    forgetPasswordRequests(config.data);
    const stores = await openStores(serving);
    if (stores === undefined) {
      await bound.close(0);
      return await signals.toldToStop;
    }
    const common = { ...builtIn(), config, clock: systemClock, randomBytes, log, fatal: signals.fail };
    const services = { ...common, ...stores };
    const service = await startService(services, bound);
    service.setProviders(providers);
    reloadable.setProviders = service.setProviders;
    reloadable.set = service.set;
    lock.coverFiles();
    announce(bound, serving);
    const told = await signals.toldToStop;
    const code = told === 0 ? await leave(service, config, signals, log) : told;
    await stopService(service, config, code);
    log.info('stopped', { code });
    return code;
  } finally {
    lock.release();
  }
}

/** Reports that the server is ready: to a person, or with one line on standard output and one in the log. */
function announce(bound: BoundListeners, { config, log, terminal, isWatched }: ServeContext): void {
  if (!isWatched || terminal.outIsTerminal !== true) terminal.out(readyLine(bound));
  if (!isWatched) {
    log.info('ready', { data: config.data });
    return;
  }
  const { api: url } = publicUrls(config, bound.listeners);
  const data = resolve(config.data);
  terminal.err(nextSteps({ url, data, program: process.execPath, directory: process.cwd() }));
}

/** @returns `undefined` if the process must stop */
async function openStores(serving: ServeContext) {
  const { config, log, signals } = serving;
  if (config.postgres === undefined) return { accounts: await openOrPrepare(serving) };
  const { openCluster } = await import('../../serve/cluster-storage.ts');
  return openCluster({ config, log, clock: systemClock, toldToStop: signals.toldToStop });
}

function warnOfServiceLinks({ env }: Terminal, log: Log): void {
  const variables = serviceLinksIn(env);
  if (variables.length === 0) return;
  log.warn('ignoring environment variables that Kubernetes sets for a Service', {
    variables,
    hint: 'set enableServiceLinks: false in the pod',
  });
}

async function openOrPrepare({ config, log, terminal, isWatched }: ServeContext): Promise<AccountTables> {
  const { data, signingAlg } = config;
  const existing = await openPrepared(data);
  if (existing !== undefined) {
    const applications = existing.applications.getCount();
    if (!isWatched) log.info('opened an existing store', { data, applications });
    return existing;
  }
  const wanted = { adminEmail: 'admin@localhost', signingAlg, clock: systemClock, randomBytes };
  terminal.err(credentialsText(await prepareData(data, wanted), data));
  if (!isWatched) log.info('prepared a new store', { data });
  return openAccountTables(data);
}

/**
 * Returns the ready line with the address of each listener. A listener is omitted if earlier listeners serve all of its
 * hosts.
 */
function readyLine({ listeners, grpc }: BoundListeners): string {
  const findListener = (host: ServedHost) => listeners.find(({ hosts }) => hosts.includes(host));
  const named = listeners.filter((each) => each.hosts.some((host) => findListener(host) === each));
  const [first, ...others] = named.map(({ listener, hosts }) => ({
    address: authority(listener.host, listener.port),
    name: hosts.join('+'),
  }));
  const more = others.map(({ name, address }) => ` ${name}=${address}`).join('');
  return `flagmeter ready http=${first?.address} grpc=${authority(grpc.host, grpc.port)}${more}\n`;
}

interface StartedServer {
  /** Public URL of the management API. */
  readonly url: string;
  /** Absolute path of the data directory. */
  readonly data: string;
  /** Absolute path of the executable. */
  readonly program: string;
  readonly directory: string;
}

export function nextSteps({ url, data, program, directory }: StartedServer): string {
  const name = formatCommand(program, directory);
  const at = url === usualUrl ? '' : ` --url ${url}`;
  return `flagmeter is running.

  Console        ${url}/
  Docs           ${url}/docs
  Data           ${data}
  Command line   ${name} login${at}

Next, sign in to the console and choose Connect. It shows how to count your flags.
Ctrl-C stops the server.

`;
}

/** Returns the command that a user in `directory` types to run the program. */
function formatCommand(program: string, directory: string): string {
  const path = relative(directory, program);
  if (path.startsWith('..') || directory === sep) return basename(program);
  return path.includes(sep) ? path : `.${sep}${path}`;
}
