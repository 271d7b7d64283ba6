import { timeText } from '../../runtime/rfc3339.ts';
import type { Freshness, PeopleFreshness } from '../../storage/commit/usage-store.ts';

/** Reports how complete the stored counts are. */
export interface FreshnessDeps {
  /** See `UsageStore.freshen`. @throws {Refusal} `store_unavailable`, `postgres_unavailable` */
  freshen(people?: PeopleFreshness): Promise<Freshness | undefined>;
}

/** Returns the freshness as fields of a report; no fields if there is only one node. */
export function describeFreshness(fresh: Freshness | undefined): {
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
