import type { Draft } from '../accounts/store/account-store.ts';
import type { DeviceCode } from '../storage/lmdb/auth-records.ts';

/** How many devices to remove at once, which makes scans rare. */
const atOnce = 100;

type Entry = readonly [key: string, device: DeviceCode];

/**
 * Drafts the removal of devices to make room: those that expired before a time. If there are none, it removes the oldest of the
 * network with the most.
 */
export function makeRoom(draft: Draft, expiredBefore: number): void {
  const all = [...draft.records('deviceCodes')];
  const expired = all.filter(([, { expiresAt }]) => expiresAt <= expiredBefore);
  const goes = expired.length > 0 ? expired : oldestOfLargest(all);
  for (const [key] of goes) draft.remove('deviceCodes', key);
}

function oldestOfLargest(all: readonly Entry[]): readonly Entry[] {
  const byNetwork = new Map<string, Entry[]>();
  for (const entry of all) {
    const { network } = entry[1];
    const entries = byNetwork.get(network);
    if (entries === undefined) byNetwork.set(network, [entry]);
    else entries.push(entry);
  }
  let largest: Entry[] = [];
  for (const entries of byNetwork.values()) if (entries.length > largest.length) largest = entries;
  return largest.sort(([, a], [, b]) => a.expiresAt - b.expiresAt).slice(0, atOnce);
}
