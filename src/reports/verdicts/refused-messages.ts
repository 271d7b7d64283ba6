import { packetSender } from '../../ingest/senders.ts';
import { ledgerEntries } from '../../storage/lmdb/ledger.ts';
import { type Reading, readEach, type Snapshot } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import type { RefusedMessages, WatchTask } from '../../webhooks/findings.ts';

const hourMs = 3_600_000;

/** Maximum number of senders that are told apart, for each reason and environment. */
const maxSenders = 100;

/** The refusals of an application, by environment and reason, whose last one is not before `from`. */
export function* refusedSince(
  store: UsageTables,
  { application, environments }: Pick<WatchTask, 'application' | 'environments'>,
  from: number,
  at: Snapshot,
): Reading<RefusedMessages[]> {
  const names = new Map(environments.map((each) => [each.number, each]));
  const found = new Map<string, RefusedMessages & { readonly senders: Set<string> }>();
  const entries = ledgerEntries(store, application, Math.floor(from / hourMs), 2 ** 32 - 1, at);
  yield* readEach(entries, ({ subject, count, lastAt }) => {
    const { outcome, code, status, environment: number, userAgent, instance } = subject;
    if (outcome !== 'refused' || code === null) return;
    const known = number === null ? undefined : names.get(number);
    const environment = known === undefined ? null : { name: known.name, number: known.number };
    const key = `${environment?.number} ${code}`;
    const before = found.get(key) ?? { count: 0, lastAt: 0, senders: new Set<string>() };
    const { senders } = before;
    if (senders.size < maxSenders) senders.add(instance ?? packetSender(userAgent ?? undefined).name);
    const sum = { count: before.count + count, lastAt: Math.max(before.lastAt, lastAt), senders };
    found.set(key, { environment, code, status, ...sum });
  });
  return [...found.values()].filter(({ lastAt }) => lastAt >= from);
}
