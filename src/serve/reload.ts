import type { ConfiguredProviders } from '../auth/sso/providers.ts';
import { settings } from '../contract/config-schema.ts';
import { pick } from '../contract/shapes/fields.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Log, LogLevel } from '../runtime/log.ts';
import type { BoundListeners } from './bound-listeners.ts';
import type { Config } from './config/config.ts';
import { readProviderFile } from './config/provider-file.ts';

/** The parts of a running server that a reload changes. */
export interface Reloadable {
  readonly bound: Pick<BoundListeners, 'renewTls' | 'trust'>;
  readonly log: Log;
  setLogLevel(level: LogLevel): void;
  /** These are `undefined` until the service has started. */
  setProviders: ((configured: ConfiguredProviders) => void) | undefined;
  set: ((live: Config) => void) | undefined;
}

type Key = (typeof settings)[number]['key'];

/** Settings that take effect without a restart. So do files that are read for each use, such as the keys of backups. */
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
 * SIGHUP: rereads the configuration, the identity providers in it, and the TLS files. If one of them cannot be used, nothing changes.
 * @param running the settings in use
 * @param load reads the settings
 * @returns the settings in use from now on
 */
export async function reload(running: Config, load: () => Config, parts: Reloadable): Promise<Config> {
  const { bound, log } = parts;
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
  const waiting = changed.filter((key) => !live.includes(key)).map(flagOf);
  bound.trust(wanted);
  parts.setLogLevel(wanted.logLevel);
  parts.setProviders?.(providers);
  if (reloaded.length > 0) parts.set?.(wanted);
  log.info('reloaded the configuration', { reloaded: reloaded.map(flagOf), afterRestart: waiting });
  return Object.freeze({ ...running, ...pick(wanted, live) });
}

function flagOf(wanted: Key): string {
  return `--${settings.find(({ key }) => key === wanted)!.flag}`;
}
