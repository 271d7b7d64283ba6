import { type RefusalCode, refusals } from './refusals.ts';

/** Details of `store_unavailable` refusals that several files use. */
export const storeUnavailable = {
  notReady: 'The store cannot accept data; see the log',
  dataNotKept: 'The store rejected the data; none of it was kept',
  changeNotKept: 'The store rejected the change; none of it was kept',
  unreadable: 'The store is not readable; see the log',
} as const;

/** Explains that a node can count packets, but cannot manage resources. */
export const onlyCounts = (reason: string) =>
  `${reason}. This node still counts, but cannot manage resources; try again later`;

/** Detail of `postgres_unavailable`. */
export const postgresUnavailable = onlyCounts('PostgreSQL is not available');

/** The refusal of a request, with its reason. The caller sees the reason, so it must not contain secrets. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: RefusalCode;
  /** Seconds for `Retry-After`. */
  readonly retryAfter: number | undefined;

  /** @param detail what is wrong with this request, and how to correct it */
  constructor(code: RefusalCode, detail: string, retryAfter?: number) {
    super(detail);
    this.code = code;
    this.retryAfter = retryAfter;
  }

  get status(): number {
    return refusals[this.code].status;
  }
}

/**
 * Returns the refusal of a request that needs PostgreSQL. Anyone can see the refusal, so only the log has the host and
 * the reason.
 */
export function postgresAway(): Refusal {
  return new Refusal('postgres_unavailable', postgresUnavailable, 2);
}
