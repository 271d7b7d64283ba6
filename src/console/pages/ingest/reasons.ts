import type { LedgerEntryShown } from '../../../contract/shapes/ledger.ts';

/** Everything of one reason: refused, or noted about what was accepted. */
export interface Reason {
  readonly code: string;
  readonly outcome: 'refused' | 'noted';
  readonly status: number;
  readonly count: number;
  readonly lastAt: string;
  /** The senders, with the most frequent first. */
  readonly senders: readonly { readonly name: string; readonly count: number }[];
  /** What is known of the last one. */
  readonly example: LedgerEntryShown['example'];
  readonly last: LedgerEntryShown;
}

/** The reasons of a ledger. Refused ones come first; of these, the most frequent. */
export function reasonsOf(entries: readonly LedgerEntryShown[]): Reason[] {
  const groups = new Map<string, LedgerEntryShown[]>();
  for (const entry of entries) {
    if (entry.outcome === 'accepted') continue;
    const key = `${entry.outcome} ${entry.code}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [entry]);
    else group.push(entry);
  }
  return Array.from(groups.values(), describe).sort(
    (a, b) => rank[a.outcome] - rank[b.outcome] || b.count - a.count,
  );
}

const rank = { refused: 0, noted: 1 } as const;

function describe(entries: readonly LedgerEntryShown[]): Reason {
  const last = entries.reduce((a, b) => (b.lastAt > a.lastAt ? b : a));
  const senders = new Map<string, number>();
  for (const each of entries) add(senders, senderName(each), each.count);
  return {
    code: last.code ?? '',
    outcome: last.outcome as Reason['outcome'],
    status: last.status,
    count: entries.reduce((sum, { count }) => sum + count, 0),
    lastAt: last.lastAt,
    senders: Array.from(senders, ([name, count]) => ({ name, count })).sort((a, b) => b.count - a.count),
    example: last.example,
    last,
  };
}

/** What a sender is called. */
export function senderName({ sender: { userAgent, instance } }: Pick<LedgerEntryShown, 'sender'>): string {
  if (userAgent === '__other__') return 'Other senders';
  if (instance === null) return userAgent ?? 'A sender without a name';
  return userAgent === null ? instance : `${instance} (${userAgent})`;
}

/** What the reader has chosen to see of a ledger. */
export interface Filter {
  readonly outcome?: string | undefined;
  readonly reason?: string | undefined;
  readonly search?: string | undefined;
}

/** The entries that a filter lets through. */
export function filtered(entries: readonly LedgerEntryShown[], filter: Filter): LedgerEntryShown[] {
  const words = (filter.search ?? '').toLowerCase();
  return entries.filter(
    (entry) =>
      (filter.outcome === undefined || entry.outcome === filter.outcome) &&
      (filter.reason === undefined || entry.code === filter.reason) &&
      (words === '' || senderName(entry).toLowerCase().includes(words)),
  );
}

function add(sums: Map<string, number>, name: string, count: number): void {
  sums.set(name, (sums.get(name) ?? 0) + count);
}
