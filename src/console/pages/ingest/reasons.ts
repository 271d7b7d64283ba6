import { ledgerRefusals, type RefusalDescription } from '../../../contract/ledger-refusals.ts';
import { surplusName } from '../../../contract/names.ts';
import { ledgerNotes, type Note } from '../../../contract/notes.ts';
import { programText } from '../../../contract/programs.ts';
import type { LedgerEntry } from '../../../contract/shapes/ledger.ts';

/** The ledger entries with the same reason: refusals, or notes on accepted packets. */
export interface LedgerReason {
  readonly code: string;
  readonly outcome: 'refused' | 'noted';
  readonly status: number;
  readonly count: number;
  readonly lastAt: string;
  readonly senders: readonly { readonly name: string; readonly count: number }[];
  readonly example: LedgerEntry['example'];
  readonly last: LedgerEntry;
}

/** The reasons of a ledger: refusals before notes, most frequent first. */
export function listReasons(entries: readonly LedgerEntry[]): LedgerReason[] {
  const groups = new Map<string, LedgerEntry[]>();
  for (const entry of entries) {
    if (entry.outcome === 'accepted') continue;
    const key = `${entry.outcome} ${entry.code}`;
    groups.set(key, [...(groups.get(key) ?? []), entry]);
  }
  return Array.from(groups.values(), describe).sort((a, b) => rank[a.outcome] - rank[b.outcome] || b.count - a.count);
}

const rank = { refused: 0, noted: 1 } as const;

function describe(entries: readonly LedgerEntry[]): LedgerReason {
  const last = entries.reduce((a, b) => (b.lastAt > a.lastAt ? b : a));
  const senders = new Map<string, number>();
  for (const each of entries) {
    const name = senderName(each);
    senders.set(name, (senders.get(name) ?? 0) + each.count);
  }
  return {
    code: last.code ?? '',
    outcome: last.outcome as LedgerReason['outcome'],
    status: last.status,
    count: entries.reduce((sum, { count }) => sum + count, 0),
    lastAt: last.lastAt,
    senders: Array.from(senders, ([name, count]) => ({ name, count })).sort((a, b) => b.count - a.count),
    example: last.example,
    last,
  };
}

export function senderName({ sender: { userAgent, instance } }: Pick<LedgerEntry, 'sender'>): string {
  if (userAgent === surplusName) return 'Other senders';
  const program = userAgent === null ? null : programText(userAgent);
  if (instance === null) return program ?? 'A sender without a name';
  return program === null ? instance : `${instance} (${program})`;
}

interface Filter {
  readonly outcome?: string | undefined;
  readonly reason?: string | undefined;
  readonly search?: string | undefined;
}

export function filtered(entries: readonly LedgerEntry[], filter: Filter): LedgerEntry[] {
  const words = (filter.search ?? '').toLowerCase();
  return entries.filter(
    (entry) =>
      (filter.outcome === undefined || entry.outcome === filter.outcome) &&
      (filter.reason === undefined || entry.code === filter.reason) &&
      (words === '' || `${senderName(entry)} ${entry.sender.userAgent}`.toLowerCase().includes(words)),
  );
}

const advice = new Map<string, Note | RefusalDescription>(Object.entries({ ...ledgerRefusals, ...ledgerNotes }));

/** Returns the meaning and the remedy of a ledger code as sentences. Codes of a newer server can be unknown. */
export function adviceOn(code: string): Note {
  const reason = advice.get(code);
  if (reason === undefined)
    return { meaning: `Refused with the code ${code}.`, remedy: 'See the list of errors of the server version.' };
  const meaning = reason.meaning ?? (reason as RefusalDescription).title;
  return { meaning: sentence(meaning), remedy: sentence(reason.remedy) };
}

/** Advice on `unknown_key` for a key of the application. */
export const leakAdvice: Note = {
  meaning: 'A web page or an app sent a Backend key, which its users can read: the key has leaked.',
  remedy: 'Use a Frontend or Mobile key there. Then replace the Backend key on your servers, and delete it.',
};

function sentence(text: string): string {
  return `${text.replaceAll('`', '')}.`;
}
