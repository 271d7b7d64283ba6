import type { Header } from '../http/endpoint.ts';
import type { Reply } from '../http/types.ts';
import type { Freshness, PeopleFreshness } from '../storage/commit/usage-store.ts';
import { timeText } from './answers.ts';

/** What tells how complete the counts are that reports read: see `UsageStore.freshen`. */
export interface FreshnessDeps {
  /** @throws {ApiError} `store_unavailable`, `engine_unavailable` */
  freshen(people?: PeopleFreshness): Promise<Freshness | undefined>;
}

/** The headers of an answer on one of several machines. */
export const freshnessHeaders = {
  'Flagmeter-Complete-Through': {
    component: 'CompleteThrough',
    description:
      'On several machines: everything that any of them accepted before this time is in the answer. On one machine it is there only if the users of the last seconds are not in the answer.',
    schema: { type: 'string', format: 'date-time' },
  },
  'Flagmeter-May-Be-Counting': {
    component: 'MayBeCounting',
    description:
      'On several machines: nodes that stopped cleanly, percent-encoded and separated by commas. One that has started since without reaching PostgreSQL may count what is not in the answer. Absent if there are none.',
    schema: { type: 'string' },
  },
} as const satisfies Record<string, Header>;

/** As headers; none on one machine. */
export function headersOf(fresh: Freshness | undefined): Record<string, string> {
  if (fresh === undefined) return {};
  const { completeThrough, mayBeCounting } = fresh;
  const names = mayBeCounting.map(encodeURIComponent).join(',');
  return {
    'flagmeter-complete-through': timeText(completeThrough),
    ...(names !== '' && { 'flagmeter-may-be-counting': names }),
  };
}

/** As fields of a report; none on one machine. */
export function fieldsOf(fresh: Freshness | undefined): {
  readonly completeThrough?: string;
  readonly mayBeCounting?: string[];
} {
  if (fresh === undefined) return {};
  const { completeThrough, mayBeCounting } = fresh;
  return {
    completeThrough: timeText(completeThrough),
    ...(mayBeCounting.length > 0 && { mayBeCounting: [...mayBeCounting] }),
  };
}

/**
 * Answers when what this node has counted is in the store, and as much of the others as is known; the headers say how much that
 * is.
 * @param people how much of the users must be there: see `UsageStore.freshen`
 */
export async function freshly(
  { freshen }: FreshnessDeps,
  people: PeopleFreshness,
  answer: (call: { readonly fresh: Freshness | undefined }) => Reply | Promise<Reply>,
): Promise<Reply> {
  const fresh = await freshen(people);
  const reply = await answer({ fresh });
  return fresh === undefined ? reply : { ...reply, headers: { ...reply.headers, ...headersOf(fresh) } };
}
