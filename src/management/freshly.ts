import type { Header } from '../http/endpoint.ts';
import type { Reply } from '../http/types.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { Freshness, PeopleFreshness } from '../storage/commit/usage-store.ts';
import type { Services } from './services.ts';

/** The headers of reports on several machines. */
export const freshnessHeaders = {
  'Flagmeter-Complete-Through': {
    component: 'CompleteThrough',
    description:
      'On several machines: the answer includes everything that any of them accepted before this time. On a single machine: present only if the users of the last seconds are missing from the answer.',
    schema: { type: 'string', format: 'date-time' },
  },
  'Flagmeter-May-Be-Counting': {
    component: 'MayBeCounting',
    description:
      'On several machines: nodes that stopped cleanly, percent-encoded and separated by commas. If one has restarted without reaching PostgreSQL, the answer lacks its latest counts. Absent if there are none.',
    schema: { type: 'string' },
  },
} as const satisfies Record<string, Header>;

/** The freshness as headers; none on a single machine. */
export function headersOf(fresh: Freshness | undefined): Record<string, string> {
  if (fresh === undefined) return {};
  const { completeThrough, mayBeCounting } = fresh;
  const names = mayBeCounting.map(encodeURIComponent).join(',');
  return {
    'flagmeter-complete-through': timeText(completeThrough),
    ...(names !== '' && { 'flagmeter-may-be-counting': names }),
  };
}

/**
 * Answers once the counts of this node are in the store. The headers report how complete the counts of other nodes are.
 * @param people how complete the users must be: see `UsageStore.freshen`
 */
export async function freshly(
  { freshen }: Services,
  people: PeopleFreshness,
  answer: (call: { readonly fresh: Freshness | undefined }) => Reply | Promise<Reply>,
): Promise<Reply> {
  const fresh = await freshen(people);
  const reply = await answer({ fresh });
  return fresh === undefined ? reply : { ...reply, headers: { ...reply.headers, ...headersOf(fresh) } };
}
