import type { IngestReport, LedgerEntry, UnattributedRefusal } from '../../../contract/shapes/ledger.ts';

/** How long the page waits before it shows all possible reasons, ms. */
export const patienceMs = 30_000;

/** The state while the page waits for the first packet. Times are the server's, Unix ms. */
export interface Waiting {
  /** When the reader started to wait. */
  readonly since: number;
  readonly now: number;
  /** The ledger of the environment, with requests that named none. */
  readonly ledger: IngestReport | undefined;
  /** Refusals without an application; only Admins can read them. */
  readonly unattributed: readonly UnattributedRefusal[];
}

export type Watched =
  | { readonly kind: 'waiting'; readonly leftMs: number }
  /** A packet was accepted. */
  | { readonly kind: 'arrived'; readonly count: number; readonly last: LedgerEntry }
  /** No packet was accepted. After `patienceMs`, earlier refusals are shown too. */
  | {
      readonly kind: 'trouble';
      readonly refused: readonly LedgerEntry[];
      readonly unattributed: readonly UnattributedRefusal[];
      /** Whether `patienceMs` is over. */
      readonly late: boolean;
    };

const maxShown = 5;

/** Decides what to show to a reader who waits for the first packet. */
export function watch({ since, now, ledger, unattributed }: Waiting): Watched {
  const taken = ledger?.entries.filter(isTaken) ?? [];
  const last = taken.reduce<LedgerEntry | undefined>(later, undefined);
  if (last !== undefined) return { kind: 'arrived', count: sum(taken), last };
  const late = now - since >= patienceMs;
  const isShown = (at: string) => late || Date.parse(at) >= since;
  const refused = ledger?.entries.filter((each) => each.outcome === 'refused' && isShown(each.lastAt)) ?? [];
  const unknown = unattributed.filter(({ at }) => isShown(at));
  if (!late && refused.length === 0 && unknown.length === 0)
    return { kind: 'waiting', leftMs: since + patienceMs - now };
  return {
    kind: 'trouble',
    refused: refused.slice(0, maxShown),
    unattributed: unknown.slice(0, maxShown),
    late,
  };
}

/** Minted ids are not packets. Entries without an environment belong to a deleted one. */
function isTaken({ outcome, route, environment }: LedgerEntry): boolean {
  return outcome === 'accepted' && route !== 'identities' && environment !== null;
}

function later(a: LedgerEntry | undefined, b: LedgerEntry): LedgerEntry {
  return a === undefined || b.lastAt > a.lastAt ? b : a;
}

function sum(entries: readonly LedgerEntry[]): number {
  return entries.reduce((total, { count }) => total + count, 0);
}
