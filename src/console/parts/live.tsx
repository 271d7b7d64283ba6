import { useEffect, useRef } from 'preact/hooks';
import { useQuery } from '../address.ts';
import { reachable } from '../api/client.ts';
import { liveness } from '../api/poll.ts';
import { ApiProblem } from '../api/problem.ts';
import { now } from '../clock.ts';
import { format } from '../format.ts';
import { endsNow, readRange } from '../range.ts';
import { useZone } from '../time-zone.tsx';
import { announce } from './announce.tsx';
import { type Liveness, livenessOf } from './liveness.ts';

/** Shows whether the figures on the page are current, and if not, since when. */
export function LiveStatus() {
  const { query } = useQuery();
  const fixed = !endsNow(readRange(query), now.peek(), useZone());
  const state = livenessOf({ polled: liveness.value, reachable: reachable.value, now: now.value });
  useAnnounced(state?.kind);
  if (state === undefined) return fixed ? <span class="live">○ fixed range</span> : null;
  return (
    <span class={`live live-${state.kind}`} title={`Figures as of ${format.clockSeconds(state.since)}`}>
      <span class="live-dot" aria-hidden="true" />
      {words(state)}
      {whyAway(liveness.value?.error)}
    </span>
  );
}

function words({ kind, since }: Liveness): string {
  if (kind === 'live') return 'live';
  return `${kind} since ${format.clockSeconds(since)}`;
}

/** The message of a node that cannot reach PostgreSQL. */
function whyAway(error: unknown): string {
  return error instanceof ApiProblem && error.code === 'engine_unavailable' ? `: ${error.message}` : '';
}

/** Announces a state that lasts: a tab that becomes visible is behind for a moment. */
function useAnnounced(kind: Liveness['kind'] | undefined): void {
  const said = useRef<Liveness['kind'] | undefined>('live');
  useEffect(() => {
    if (kind === undefined || kind === said.current) return undefined;
    const timer = setTimeout(() => {
      said.current = kind;
      announce(kind === 'live' ? 'The figures are live again' : `The figures are ${kind}`);
    }, 2000);
    return () => clearTimeout(timer);
  }, [kind]);
}
