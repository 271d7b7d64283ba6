import type { Batch } from '../commit/batch.ts';
import type { LedgerPlace } from '../ledger/ledger.ts';
import type { CountingDeps } from './deps.ts';
import type { MessageIdentity } from './message-identity.ts';

/**
 * Counts a message unless it was counted before, which the ledger then says. Resolves when the message is on disk.
 * @param identity without one, nothing tells a repetition from a message like it, and each counts
 * @param count adds all that the message says to a batch, without waiting for anything
 * @throws {ApiError} when the message was not kept
 */
export function countOnce(
  { messages, ledger, clock }: CountingDeps,
  identity: MessageIdentity | undefined,
  place: LedgerPlace,
  count: () => Batch,
): Promise<void> {
  if (identity === undefined) return count().durable;
  const now = clock.now();
  const before = messages.find(identity, now);
  if (before === undefined) {
    const batch = count();
    messages.add(identity, now, batch);
    return batch.durable;
  }
  return before.then(() => {
    ledger.accepted(place);
    ledger.noted(place, 'repeated');
  });
}
