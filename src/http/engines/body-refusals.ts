import { ApiError } from '../../contract/errors.ts';

/** The refusal of a body over the limit. */
export function tooLarge(limit: number): ApiError {
  return new ApiError('body_too_large', `A body may have at most ${limit} bytes`);
}

/** The refusal of a body that misses its deadline: see `BodyDeadlines`. */
export function tooSlow(): ApiError {
  return new ApiError('body_too_slow', 'Send at least 2 KiB a second');
}
