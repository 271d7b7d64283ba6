import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../runtime/log.ts';
import type { Config } from './config.ts';
import type { Service } from './service.ts';
import type { Signals } from './signals.ts';

/** Maximum time for the last 503s after the store has failed, ms. */
const fatalGraceMs = 800;

/** Maximum part of the grace that is reserved for closing, and minimum time for closing, ms. */
const maxClosingMs = 1000;
const minClosingMs = 250;

/**
 * Reports not ready and continues to serve, until load balancers have noticed, so that no request is lost. Another signal ends this.
 * @returns the exit code
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
  const code = await Promise.race([
    pause(shutdownDelay * 1000, 0, { signal: over.signal }).catch(() => 0),
    toldAgain,
  ]);
  over.abort();
  return code;
}

/** Stops the service. If its store has failed, the grace is short: accepted data is on disk, and the rest was refused. */
export async function stopService(service: Service, config: Config, code: number): Promise<void> {
  const graceMs = code === 0 ? config.shutdownGrace * 1000 : fatalGraceMs;
  // Part of the grace is for the last commit and the exit.
  const deadline = setTimeout(() => process.exit(code), Math.max(minClosingMs, graceMs * 0.95));
  await service.stop(graceMs - Math.min(maxClosingMs, graceMs / 4));
  clearTimeout(deadline);
}
