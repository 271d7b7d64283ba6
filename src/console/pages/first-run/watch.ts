import type { IngestReport, LedgerEntry, UnattributedRefusal } from '../../../contract/shapes/ledger.ts';
import type { Source } from './sources.ts';

/** The state while the page waits for the first message. Times are on the server's clock, in Unix ms. */
export interface WatchState {
  readonly source: Pick<Source, 'sent' | 'patienceMs'>;
  readonly since: number;
  readonly now: number;
  /** The ledger of the environment, including requests that named no environment. */
  readonly ledger: IngestReport | undefined;
  readonly unattributed: readonly UnattributedRefusal[];
}

export type WatchResult =
  | { readonly kind: 'waiting'; readonly leftMs: number }
  | {
      readonly kind: 'arrived';
      readonly count: number;
      readonly last: LedgerEntry;
      /** True if the environment has no messages from other kinds of senders. */
      readonly isAlone: boolean;
    }
  /** No message was accepted, and one was refused or `patienceMs` is over. `late` includes earlier refusals. */
  | {
      readonly kind: 'trouble';
      readonly refused: readonly LedgerEntry[];
      readonly unattributed: readonly UnattributedRefusal[];
      readonly late: boolean;
    };

const maxShown = 5;

export function watch({ source, since, now, ledger, unattributed }: WatchState): WatchResult {
  const entries = ledger?.entries ?? [];
  const isOwn = ({ route, sender }: LedgerEntry) => source.sent(route, sender.userAgent);
  const taken = entries.filter(isTaken);
  const own = taken.filter(isOwn);
  const last = own.reduce<LedgerEntry | undefined>(later, undefined);
  if (last !== undefined)
    return {
      kind: 'arrived',
      count: own.reduce((sum, { count }) => sum + count, 0),
      last,
      isAlone: own.length === taken.length,
    };
  const late = now - since >= source.patienceMs;
  const isShown = (at: string) => late || Date.parse(at) >= since;
  const refused = entries.filter((each) => each.outcome === 'refused' && isShown(each.lastAt) && isOwn(each));
  const unknown = unattributed.filter(({ at, route, userAgent }) => isShown(at) && source.sent(route, userAgent));
  if (!late && refused.length === 0 && unknown.length === 0)
    return { kind: 'waiting', leftMs: source.patienceMs - Math.max(0, now - since) };
  return { kind: 'trouble', refused: refused.slice(0, maxShown), unattributed: unknown.slice(0, maxShown), late };
}

/** True for an accepted message of an existing environment, unless the message only created an id. */
function isTaken({ outcome, route, environment }: LedgerEntry): boolean {
  return outcome === 'accepted' && route !== 'identities' && environment !== null;
}

function later(a: LedgerEntry | undefined, b: LedgerEntry): LedgerEntry {
  return a === undefined || b.lastAt > a.lastAt ? b : a;
}
