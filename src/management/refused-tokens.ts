import { surplusName } from '../contract/names.ts';
import type { RefusedToken } from '../contract/shapes/ledger.ts';
import { timeText } from '../runtime/rfc3339.ts';
import { ledgerEntries, noApplication } from '../storage/lmdb/ledger.ts';
import type { UsageTables } from '../storage/lmdb/usage.ts';

const hourMs = 3_600_000;
const hours = 24;
const maxShown = 50;

/** The tokens of Unleash that were refused in the last day. The ledger bounds their number in each hour. @param now Unix ms */
export function refusedTokens(store: UsageTables, now: number): RefusedToken[] {
  const last = Math.floor(now / hourMs) + 1;
  const found = new Map<
    string,
    { token: string; sender: string | null; count: number; since: number; lastAt: number }
  >();
  for (const { hour, subject, count, lastAt } of ledgerEntries(
    store,
    noApplication,
    last - hours,
    last + 1,
  )) {
    const token = subject.instance ?? surplusName;
    const sender = subject.userAgent;
    const name = JSON.stringify([token, sender]);
    const before = found.get(name);
    found.set(name, {
      token,
      sender,
      count: count + (before?.count ?? 0),
      since: Math.min(hour * hourMs, before?.since ?? Number.POSITIVE_INFINITY),
      lastAt: Math.max(lastAt, before?.lastAt ?? 0),
    });
  }
  return [...found.values()]
    .sort((a, b) => b.lastAt - a.lastAt)
    .slice(0, maxShown)
    .map(({ since, lastAt, ...token }) => ({ ...token, since: timeText(since), lastAt: timeText(lastAt) }));
}
