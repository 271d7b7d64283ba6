import { ApiError, storeUnavailable } from '../contract/errors.ts';

/** Whether the store failed. Errors of LMDB, and the system errors that it passes on, have a number as `code`. */
export function isStoreFailure(error: unknown): boolean {
  const isOther = error instanceof DOMException; // Its code is a number too.
  return error instanceof Error && !isOther && typeof (error as { code?: unknown }).code === 'number';
}

/** The refusal that answers a failure. The details of an unexpected failure go to the log only. */
export function refusalOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (isStoreFailure(error)) return new ApiError('store_unavailable', storeUnavailable.unreadable, 5);
  return new ApiError('internal', 'The request could not be served; the log has the cause');
}
