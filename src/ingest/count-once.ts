import type { Batch } from './batch.ts';
import type { CountingParts } from './counting-parts.ts';
import type { LedgerPlace } from './ledger.ts';
import type { MessageIdentity } from './message-identity.ts';

/**
 * Counts a message unless it was counted before, which the ledger then says. Resolves when the message is on disk.
 * @param count adds all that the message says to a batch, without waiting for anything
 * @throws {Refusal} when the message was not kept
 */
export async function countOnce(
  { messages, ledger, clock }: CountingParts,
  identity: MessageIdentity,
  place: LedgerPlace,
  count: () => Batch,
): Promise<void> {
  let counted = false;
  await messages.once(identity, clock.now(), () => {
    counted = true;
    return count();
  });
  if (counted) return;
  ledger.accepted(place);
  ledger.noted(place, 'repeated');
}
