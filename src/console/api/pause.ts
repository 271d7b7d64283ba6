import { ApiProblem } from './problem.ts';

const maxPauseMs = 30_000;
/** A failed reading that would not be repeated otherwise is, after this time. */
const retryMs = 2000;

/** Refusals that a repetition does not change. */
const final = [400, 403, 404];

/**
 * How long to wait before a path is read again, ms; `undefined` for ever.
 * @param everyMs the usual pause; `Infinity` when it is read once
 * @param failures how many attempts failed one after the other
 * @param error why the last one failed
 */
export function pauseAfter(everyMs: number, failures: number, error: unknown): number | undefined {
  if (failures === 0) return Number.isFinite(everyMs) ? everyMs : undefined;
  if (isFinal(error)) return undefined;
  const usual = Math.min(maxPauseMs, Math.min(everyMs, retryMs) * 2 ** failures);
  // A server that names a time knows better.
  const asked = error instanceof ApiProblem ? (error.retryAfter ?? 0) * 1000 : 0;
  return Math.max(usual, asked);
}

/** Whether asking again would only be refused again. */
export function isFinal(error: unknown): boolean {
  return error instanceof ApiProblem && final.includes(error.status);
}
