import type { Header } from '../http/endpoint.ts';
import type { Reply } from '../http/types.ts';
import { timeText } from './answers.ts';

/** What tells how complete the counts are that reports read: see `UsageEngine.freshen`. */
export interface FreshnessDeps {
  /** @throws {ApiError} `engine_unavailable` */
  freshen(): Promise<{ readonly completeThrough: number }> | undefined;
}

/** The header of an answer on one of several machines. */
export const CompleteThrough: Header = {
  component: 'CompleteThrough',
  description:
    'On several machines: everything that any of them accepted before this time is in the answer. On one machine it is not there: everything is in the answer.',
  schema: { type: 'string', format: 'date-time' },
};

const headerName = 'flagmeter-complete-through';

/** As a header; none on one machine. */
export function completeThroughHeader(completeThrough: number | undefined): Record<string, string> {
  return completeThrough === undefined ? {} : { [headerName]: timeText(completeThrough) };
}

/**
 * Answers when what this node has counted is in the store, and as much of the others as is known; the header says how much that
 * is. On one machine nothing waits.
 */
export function freshly(
  { freshen }: FreshnessDeps,
  answer: (call: { readonly completeThrough: number | undefined }) => Reply | Promise<Reply>,
): Reply | Promise<Reply> {
  const wait = freshen();
  if (wait === undefined) return answer({ completeThrough: undefined });
  return wait.then(async ({ completeThrough }) => {
    const reply = await answer({ completeThrough });
    return { ...reply, headers: { ...reply.headers, ...completeThroughHeader(completeThrough) } };
  });
}
