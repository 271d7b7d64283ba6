import type {
  LedgerEntryShown,
  LedgerShown,
  UnattributedRefusalShown,
} from '../../../contract/shapes/ledger.ts';

/** How long the page waits in silence before it shows everything that may have gone wrong, ms. */
export const patienceMs = 30_000;

/** What is known while the first packet is waited for. Times are the server's, Unix ms. */
export interface Sight {
  /** When the reader began to wait. */
  readonly since: number;
  readonly now: number;
  /** The ledger of the environment, with what named no environment. */
  readonly ledger: LedgerShown | undefined;
  /** Refusals of no application; those who may not see them have none. */
  readonly strangers: readonly UnattributedRefusalShown[];
}

export type Watched =
  | { readonly kind: 'waiting'; readonly leftMs: number }
  /** Something was accepted: only then is anything connected. */
  | { readonly kind: 'arrived'; readonly count: number; readonly last: LedgerEntryShown }
  /** Nothing was accepted. What came was refused; after the patience, earlier refusals are shown, too. */
  | {
      readonly kind: 'trouble';
      readonly refused: readonly LedgerEntryShown[];
      readonly strangers: readonly UnattributedRefusalShown[];
      /** Whether the patience is over. */
      readonly late: boolean;
    };

const maxShown = 5;

/** What to tell a reader who waits for the first packet. */
export function watch({ since, now, ledger, strangers }: Sight): Watched {
  const taken = ledger?.entries.filter(isTaken) ?? [];
  const last = taken.reduce<LedgerEntryShown | undefined>(later, undefined);
  if (last !== undefined) return { kind: 'arrived', count: sum(taken), last };
  const late = now - since >= patienceMs;
  const isShown = (at: string) => late || Date.parse(at) >= since;
  const refused = ledger?.entries.filter((each) => each.outcome === 'refused' && isShown(each.lastAt)) ?? [];
  const unknown = strangers.filter(({ at }) => isShown(at));
  if (!late && refused.length === 0 && unknown.length === 0)
    return { kind: 'waiting', leftMs: since + patienceMs - now };
  return {
    kind: 'trouble',
    refused: refused.slice(0, maxShown),
    strangers: unknown.slice(0, maxShown),
    late,
  };
}

/** Minted ids are no packets, and what an environment took that is deleted by now is not of this one. */
function isTaken({ outcome, route, environment }: LedgerEntryShown): boolean {
  return outcome === 'accepted' && route !== 'identities' && environment !== null;
}

function later(a: LedgerEntryShown | undefined, b: LedgerEntryShown): LedgerEntryShown {
  return a === undefined || b.lastAt > a.lastAt ? b : a;
}

function sum(entries: readonly LedgerEntryShown[]): number {
  return entries.reduce((total, { count }) => total + count, 0);
}
