import type { Batch } from '../commit/batch.ts';
import type { AttributedSource } from '../ledger/ledger.ts';
import type { CountingDeps } from './deps.ts';
import type { MessageIdentity } from './message-identity.ts';

/**
 * Counts a message, unless it was counted before; then the ledger notes the repetition. Resolves when it is on disk.
 * @param identity if missing, repetitions cannot be told from similar messages, so every message counts
 * @param count adds the whole message to a batch before it returns
 * @throws {ApiError} when the message was not kept
 */
export function countOnce(
  { messages, ledger, clock, laneOf }: CountingDeps,
  identity: MessageIdentity | undefined,
  place: AttributedSource,
  count: (batch: Batch) => void,
): Promise<void> {
  const { number } = place.application;
  if (identity === undefined) return laneOf(number).submit(number, count);
  const now = clock.now();
  const before = messages.find(identity, now);
  if (before === undefined) {
    return laneOf(number).submit(number, (batch) => {
      const from = batch.extent;
      count(batch);
      messages.add(identity, now, batch, from);
    });
  }
  return before.then(() => {
    ledger.accepted(place);
    ledger.noted(place, 'repeated');
  });
}
