import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../runtime/log.ts';
import type { Config } from './config.ts';
import type { Service } from './service.ts';
import type { Signals } from './signals.ts';

/** How long the last 503s may take after the store has failed, ms. */
const fatalGraceMs = 800;

/** The part of the grace that is reserved for closing, at most, and the time for closing without any grace, ms. */
const maxClosingMs = 1000;
const minClosingMs = 250;

/**
 * Serves on without being ready, until load balancers have noticed: what stops at once may break requests that are on their way to
 * it. One more signal ends that.
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
  log.info('stopping: requests are served until load balancers have noticed', { seconds: shutdownDelay });
  const over = new AbortController();
  const code = await Promise.race([
    pause(shutdownDelay * 1000, 0, { signal: over.signal }).catch(() => 0),
    toldAgain,
  ]);
  over.abort();
  return code;
}

/** A process whose store failed does not wait for it: all that was accepted is on disk, the rest was refused. */
export async function stopService(service: Service, config: Config, code: number): Promise<void> {
  const graceMs = code === 0 ? config.shutdownGrace * 1000 : fatalGraceMs;
  // Part of the grace is for what follows the last answer: the last commit, and the end of the process.
  const deadline = setTimeout(() => process.exit(code), Math.max(minClosingMs, graceMs * 0.95));
  await service.stop(graceMs - Math.min(maxClosingMs, graceMs / 4));
  clearTimeout(deadline);
}
