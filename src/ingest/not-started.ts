import { ApiError } from '../contract/errors.ts';

/** The refusal of every message that arrives before the service is ready. */
export const notStarted = new ApiError('store_unavailable', 'The service is starting', 1);
