import type { Config } from '../config.ts';
import type { Service } from './service.ts';

/** How long the last 503s may take after the store has failed, ms. */
const fatalGraceMs = 800;

/** The part of the grace that is reserved for closing, at most, and the time for closing without any grace, ms. */
const maxClosingMs = 1000;
const minClosingMs = 250;

/** A process whose store failed does not wait for it: all that was accepted is on disk, the rest was refused. */
export async function stopService(service: Service, config: Config, code: number): Promise<void> {
  const graceMs = code === 0 ? config.shutdownGrace * 1000 : fatalGraceMs;
  // Part of the grace is for what follows the last answer: the last commit, and the end of the process.
  const deadline = setTimeout(() => process.exit(code), Math.max(minClosingMs, graceMs * 0.95));
  await service.stop(graceMs - Math.min(maxClosingMs, graceMs / 4));
  clearTimeout(deadline);
}
