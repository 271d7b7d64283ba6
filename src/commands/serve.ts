import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { checkPrepared, openPrepared, prepareData } from '../accounts/prepare.ts';
import type { Terminal } from '../cli/terminal.ts';
import { loadDescriptors, loadHttpEngine } from '../http/engines/runtime.ts';
import { authority } from '../runtime/address.ts';
import { systemClock } from '../runtime/clock.ts';
import { logConsole } from '../runtime/console-log.ts';
import { createLog, type Log, type LogFormat, type LogLevel } from '../runtime/log.ts';
import { isPresent } from '../runtime/presence.ts';
import { shareLogFormat } from '../runtime/worker-log.ts';
import { type BoundListeners, bindListeners } from '../serve/bound-listeners.ts';
import { builtIn } from '../serve/built-in.ts';
import { type Config, loadConfig, serviceLinksIn } from '../serve/config.ts';
import type { ServiceDeps } from '../serve/core.ts';
import { warnOfOpenFiles } from '../serve/open-files.ts';
import { forgetPasswordRequests } from '../serve/password-reset.ts';
import { publicUrls } from '../serve/public-urls.ts';
import { type Reloadable, reload } from '../serve/reload.ts';
import { startService } from '../serve/service.ts';
import { listenToSignals, type Signals } from '../serve/signals.ts';
import { leave, stopService } from '../serve/stop-service.ts';
import { type AccountTables, openAccountTables } from '../storage/lmdb/accounts.ts';
import { willHave } from '../storage/lmdb/create-atomically.ts';
import { lockDataDirectory } from '../storage/lmdb/lock.ts';
import { credentialsText } from './administrator.ts';
import { checkServe } from './check-serve.ts';
import { nextSteps, type StartedServer } from './next-steps.ts';

/**
 * Runs the server until SIGTERM or SIGINT, or until its store fails.
 * @returns exit code: 0 after a signal, 1 after a failure
 * @throws {UsageError} for wrong settings
 * @throws {Error} when the data directory or an address cannot be used
 */
export async function serve(argv: readonly string[], terminal: Terminal): Promise<number> {
  if (argv.includes('--check'))
    return checkServe(
      argv.filter((each) => each !== '--check'),
      terminal,
    );
  const load = () => loadConfig({ argv, env: terminal.env, readFile: terminal.readFile });
  const config = load();
  const format = logFormatOf(config, terminal);
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
    return await openAndServe({
      config,
      load,
      log,
      setLogLevel,
      terminal,
      signals: listenToSignals(terminal),
    });
  } finally {
    putConsoleBack();
  }
}

/** People read the log at a terminal, programs read it elsewhere. */
function logFormatOf({ logFormat }: Config, { interactive }: Terminal): LogFormat {
  return logFormat ?? (interactive ? 'text' : 'json');
}

interface Serving {
  readonly config: Config;
  /** Reads the settings again. */
  readonly load: () => Config;
  readonly log: Log;
  readonly setLogLevel: (level: LogLevel) => void;
  readonly terminal: Terminal;
  readonly signals: Signals;
}

/** Errors of an address or a TLS file show before anything is prepared. */
async function openAndServe(serving: Serving): Promise<number> {
  const { config, load, log, setLogLevel, signals } = serving;
  const [engine, descriptors] = await Promise.all([loadHttpEngine(), loadDescriptors()]);
  const bound = await bindListeners({ config, engine, descriptors, clock: systemClock, log });
  const reloadable: Reloadable = { bound, log, setLogLevel, setRates: undefined };
  let reloading = Promise.resolve(config);
  signals.onHangUp(() => {
    reloading = reloading.then((running) => reload(running, load, reloadable));
  });
  try {
    return await serveOn(bound, serving, reloadable);
  } catch (error) {
    await bound.close(0);
    throw error;
  }
}

async function serveOn(bound: BoundListeners, serving: Serving, reloadable: Reloadable): Promise<number> {
  const { config, log, terminal, signals } = serving;
  if (config.existing) checkPrepared(config.data, willHave);
  const lock = lockDataDirectory(config.data);
  try {
    forgetPasswordRequests(config.data);
    const stores = await openStores(serving);
    if (stores === undefined) return await stopWaiting(bound, signals);
    const parts = {
      ...builtIn(),
      config,
      clock: systemClock,
      ...stores,
      randomBytes,
      log,
      fatal: signals.fail,
    };
    const service = await startService(parts, bound);
    reloadable.setRates = service.setRates;
    lock.coverFiles();
    terminal.out(readyLine(bound));
    log.info('ready', { data: config.data });
    if (terminal.interactive) terminal.err(nextSteps(startedServer(config, bound)));
    const told = await signals.toldToStop;
    const code = told === 0 ? await leave(service, config, signals, log) : told;
    await stopService(service, config, code);
    log.info('stopped', { code });
    return code;
  } finally {
    lock.release();
  }
}

type OpenedStores = Pick<ServiceDeps, 'accounts'> & Partial<Pick<ServiceDeps, 'storage' | 'clock'>>;

/** The accounts, and where they and usage are kept; `undefined` when the process was told to stop meanwhile. */
async function openStores(serving: Serving): Promise<OpenedStores | undefined> {
  const { config, log, terminal, signals } = serving;
  if (config.postgres === undefined) return { accounts: await openOrPrepare(config, log, terminal) };
  const { openCluster } = await import('../serve/cluster-storage.ts');
  return openCluster({ config, log, clock: systemClock, toldToStop: signals.toldToStop });
}

async function stopWaiting(bound: BoundListeners, { toldToStop }: Signals): Promise<number> {
  await bound.close(0);
  return toldToStop;
}

function startedServer(config: Config, { listeners }: BoundListeners): StartedServer {
  return {
    url: publicUrls(config, listeners).api,
    program: process.execPath,
    directory: process.cwd(),
  };
}

function warnOfServiceLinks({ env }: Terminal, log: Log): void {
  const variables = serviceLinksIn(env);
  if (variables.length === 0) return;
  log.warn('environment variables that Kubernetes sets for a Service are passed over', {
    variables,
    hint: 'enableServiceLinks: false in the pod keeps them out',
  });
}

/** `serve` prepares an empty data directory as `init` does. */
async function openOrPrepare(
  { data, signingAlg }: Config,
  log: Log,
  terminal: Terminal,
): Promise<AccountTables> {
  const existing = await openPrepared(data);
  if (existing !== undefined) {
    const applications = existing.applications.getCount();
    log.info('an existing store is open', { data, applications });
    if (applications > 0 && !isPresent(join(data, 'usage'))) {
      const hint = 'if it was removed by mistake, stop the server and put it back from a backup';
      log.warn('there is no usage store: an empty one is begun', { data, hint });
    }
    return existing;
  }
  const wanted = { adminEmail: 'admin@localhost', signingAlg, clock: systemClock, randomBytes };
  terminal.err(credentialsText(await prepareData(data, wanted), data));
  log.info('a new store is prepared', { data });
  return openAccountTables(data);
}

function readyLine({ listeners, grpc }: BoundListeners): string {
  const [first, ...others] = listeners.map(({ listener, hosts }) => ({
    address: authority(listener.host, listener.port),
    name: hosts.join('+'),
  }));
  const more = others.map(({ name, address }) => ` ${name}=${address}`).join('');
  return `flagmeter ready http=${first?.address} grpc=${authority(grpc.host, grpc.port)}${more}\n`;
}
