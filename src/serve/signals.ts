import { setTimeout as pause } from 'node:timers/promises';
import { isatty } from 'node:tty';
import type { ConfiguredProviders } from '../auth/sso/providers.ts';
import type { Terminal } from '../cli/command.ts';
import { settings } from '../contract/config-schema.ts';
import { pick } from '../contract/shapes/fields.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Log, LogLevel } from '../runtime/log.ts';
import type { BoundListeners } from './bound-listeners.ts';
import type { Config } from './config/config.ts';
import { readProviderFile } from './config/provider-file.ts';
import type { Service } from './service.ts';

/** Reasons to stop or to reload: signals of the operating system, or a failed store. */
export interface Signals {
  /** Resolves with the exit code on the first reason to stop. */
  readonly toldToStop: Promise<number>;
  /** Resolves with the exit code on the second reason to stop. */
  readonly toldAgain: Promise<number>;
  fail(): void;
  onHangUp(action: () => void): void;
}

/**
 * Listens to the signals of the operating system. SIGHUP of a closed terminal stops a server at that terminal, because
 * Ctrl-C can no longer reach the server.
 */
export function listenToSignals({ interactive }: Terminal): Signals {
  const tells: ((code: number) => void)[] = [];
  const told = () => new Promise<number>((resolve) => tells.push(resolve));
  const toldToStop = told();
  const toldAgain = told();
  const tell = (code: number) => tells.shift()?.(code);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => tell(0));
  let hangUp = () => {};
  const isTerminalClosed = () => interactive && !isatty(2);
  process.on('SIGHUP', () => (isTerminalClosed() ? tell(0) : hangUp()));
  return {
    toldToStop,
    toldAgain,
    fail: () => tell(1),
    onHangUp: (action) => {
      hangUp = action;
    },
  };
}

/** Maximum time in ms to send the last 503 responses after the store has failed. */
const fatalGraceMs = 800;

/** Maximum part of the grace period that is reserved for closing, ms. The next constant is the minimum. */
const maxClosingMs = 1000;
const minClosingMs = 250;

/**
 * Reports the service as not ready, and serves until load balancers have noticed, so that no request is lost. Another
 * signal ends the wait.
 */
export async function leave(
  service: Service,
  { shutdownDelay }: Config,
  { toldAgain }: Signals,
  log: Log,
): Promise<number> {
  if (shutdownDelay === 0) return 0;
  service.leave();
  log.info('stopping: serving requests until load balancers have noticed', { seconds: shutdownDelay });
  const over = new AbortController();
  const code = await Promise.race([pause(shutdownDelay * 1000, 0, { signal: over.signal }).catch(() => 0), toldAgain]);
  over.abort();
  return code;
}

/** Stops the service. If the store has failed, the grace period is short, because no data waits for a commit. */
export async function stopService(service: Service, config: Config, code: number): Promise<void> {
  const graceMs = code === 0 ? config.shutdownGrace * 1000 : fatalGraceMs;
  // A part of the grace period is reserved for the last commit and the exit.
  const deadline = setTimeout(() => process.exit(code), Math.max(minClosingMs, graceMs * 0.95));
  await service.stop(graceMs - Math.min(maxClosingMs, graceMs / 4));
  clearTimeout(deadline);
}

export interface Reloadable {
  readonly bound: Pick<BoundListeners, 'renewTls' | 'trust'>;
  readonly log: Log;
  setLogLevel(level: LogLevel): void;
  /** Changes the providers. This function and `set` are `undefined` until the service has started. */
  setProviders: ((configured: ConfiguredProviders) => void) | undefined;
  set: ((live: Config) => void) | undefined;
}

type Key = (typeof settings)[number]['key'];

/** Settings that take effect without a restart. Not listed: files that are read for each use, such as backup keys. */
const live: readonly Key[] = [
  'logLevel',
  'rate',
  'burst',
  'apiRate',
  'tokenRate',
  'trustedProxies',
  'identityProviders',
];

/**
 * On SIGHUP, reads the configuration, its identity providers and the TLS files again. Changes nothing if any of these
 * is invalid.
 * @param running the settings in use
 * @returns the settings in use from now on
 */
export async function reload(running: Config, load: () => Config, target: Reloadable): Promise<Config> {
  const { bound, log } = target;
  let wanted: Config;
  let providers: ConfiguredProviders;
  try {
    wanted = load();
    providers = readProviderFile(wanted, systemClock);
  } catch (error) {
    const { message } = error as Error;
    log.error('the configuration is invalid; keeping the current one', { reason: message });
    return running;
  }
  try {
    const renewed = await bound.renewTls(running.shutdownGrace * 1000);
    if (renewed) log.info('reloaded the TLS files');
  } catch (error) {
    log.error('the TLS files cannot be used; keeping the current ones', { reason: (error as Error).message });
    return running;
  }
  const changed = settings.map(({ key }) => key).filter((key) => wanted[key] !== running[key]);
  const reloaded = changed.filter((key) => live.includes(key));
  const waiting = changed.filter((key) => !live.includes(key)).map(formatOption);
  bound.trust(wanted);
  target.setLogLevel(wanted.logLevel);
  target.setProviders?.(providers);
  if (reloaded.length > 0) target.set?.(wanted);
  log.info('reloaded the configuration', { reloaded: reloaded.map(formatOption), afterRestart: waiting });
  return Object.freeze({ ...running, ...pick(wanted, live) });
}

function formatOption(wanted: Key): string {
  return `--${settings.find(({ key }) => key === wanted)!.option}`;
}
