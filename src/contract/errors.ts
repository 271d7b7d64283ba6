import { type RefusalCode, refusals } from './refusals.ts';

/** The details of `store_unavailable` that several places answer with. */
export const storeUnavailable = {
  notReady: 'The store cannot take data; see the log',
  dataNotKept: 'The store did not take the data; nothing of it was kept',
  changeNotKept: 'The store cannot take the change; nothing of it was kept',
  unreadable: 'The store cannot be read; the log has the cause',
} as const;

/** The details of `engine_unavailable`. */
export const postgresUnavailable =
  'The engine does not answer: this node counts, but cannot manage; try again';

/** The refusal of a request, and its reason. It is shown to the caller, so it must not hold secrets. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: RefusalCode;
  /** Seconds for `Retry-After`. */
  readonly retryAfter: number | undefined;

  /** @param detail what is wrong with this request, and what to do */
  constructor(code: RefusalCode, detail: string, retryAfter?: number) {
    super(detail);
    this.code = code;
    this.retryAfter = retryAfter;
  }

  get status(): number {
    return refusals[this.code].status;
  }
}

/** The refusal of what needs the engine. Strangers may read it: the log says which host failed, and why. */
export function postgresAway(): ApiError {
  return new ApiError('engine_unavailable', postgresUnavailable, 2);
}
