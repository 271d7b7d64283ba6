import { ApiProblem } from './problem.ts';

const maxPauseMs = 30_000;
/** The pause after a failure is based on this if the usual one is longer. */
const retryMs = 2000;

/** Statuses that a repeated request would get again. */
const final = [400, 403, 404];

/**
 * The pause before a path is read again, ms; `undefined` if it is not.
 * @param everyMs the usual pause; `Infinity` if it is read once
 * @param failures number of consecutive failures
 * @param error reason of the last failure
 */
export function pauseAfter(everyMs: number, failures: number, error: unknown): number | undefined {
  if (failures === 0) return Number.isFinite(everyMs) ? everyMs : undefined;
  if (isFinal(error)) return undefined;
  const usual = Math.min(maxPauseMs, Math.min(everyMs, retryMs) * 2 ** failures);
  // A server may ask for a longer pause.
  const asked = error instanceof ApiProblem ? (error.retryAfter ?? 0) * 1000 : 0;
  return Math.max(usual, asked);
}

/** True if a repeated request would be refused as well. */
export function isFinal(error: unknown): boolean {
  return error instanceof ApiProblem && final.includes(error.status);
}
