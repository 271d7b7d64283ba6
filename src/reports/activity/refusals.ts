import { surplusName } from '../../contract/names.ts';
import { type LedgerEntry, ledgerEntries } from '../../storage/lmdb/ledger.ts';
import { type Reading, readEach, type Snapshot } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';

/** Consecutive hours in which messages were refused for one reason, with one key or without a known one. */
export interface Refusals {
  /** Number of the environment; `null` if none was named, or the application has no such environment. */
  readonly environment: number | null;
  readonly code: string;
  readonly keyId: string | null;
  /** Hours since the epoch. */
  readonly firstHour: number;
  lastHour: number;
  count: number;
  /** The names of some senders. */
  readonly senders: Set<string>;
  /** Whether there were more senders than that. */
  otherSenders: boolean;
}

/** Hours without a refusal after which further ones are another period. */
const pauseHours = 24;

const dayHours = 24;
const maxSenders = 3;
/** Maximum number of periods of an application. The latest ones are kept. */
const maxPeriods = 1000;

/** The periods of refusals of an application, the latest first. Those that begin before `from` (hours) are included. */
export function* refusalsOf(
  store: UsageTables,
  application: number,
  hours: { readonly from: number; readonly to: number },
  at: Snapshot,
): Reading<readonly Refusals[]> {
  const open = new Map<string, Refusals & { firstHour: number }>();
  const found: Refusals[] = [];
  const take = ({ hour, subject, count, example }: LedgerEntry) => {
    const { environment, code, userAgent } = subject;
    if (code === null || found.length >= maxPeriods) return;
    const keyId = example?.keyId ?? null;
    const name = `${environment} ${code} ${keyId}`;
    let period = open.get(name);
    // Entries come from the latest hour to the earliest.
    if (period === undefined || period.firstHour - hour > pauseHours) {
      const of = { environment, code, keyId, firstHour: hour, lastHour: hour };
      period = { ...of, count: 0, senders: new Set(), otherSenders: false };
      open.set(name, period);
      found.push(period);
    }
    period.firstHour = hour;
    period.count += count;
    if (userAgent === null || period.senders.has(userAgent)) return;
    if (period.senders.size < maxSenders && userAgent !== surplusName) period.senders.add(userAgent);
    else period.otherSenders = true;
  };
  for (let to = hours.to; to > hours.from; to -= dayHours) {
    const from = Math.max(hours.from, to - dayHours);
    yield* readEach(ledgerEntries(store, application, from, to, at, 'refused'), take);
    yield; // Most rows are of accepted messages, which are skipped without a pause.
  }
  return found;
}
