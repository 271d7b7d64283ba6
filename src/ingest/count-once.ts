import type { KeyHolder } from '../accounts/key-index.ts';
import type { RefusalCode } from '../contract/refusals.ts';
import type { Batch } from '../storage/commit/batch.ts';
import type { Lane } from '../storage/commit/lane.ts';
import type { SeriesDictionary } from '../storage/commit/series-dictionary.ts';
import type { AdmissionDeps } from './admission.ts';
import type { AttributedSource, Ledger } from './ledger/ledger.ts';
import type { Recognition } from './message-identity.ts';
import type { SeenMessages } from './seen-messages.ts';
import type { Senders } from './senders.ts';

/**
 * Counts a message unless it repeats one counted before. A message that cannot be told from a repetition is counted and noted. Resolves
 * when it is on disk.
 * @param recognition if missing, the message is unique
 * @param count adds the whole message to a batch before it returns
 * @throws {ApiError} if the message was not stored
 */
export function countOnce(
  { messages, ledger, clock, laneOf }: CountingDeps,
  recognition: Recognition | undefined,
  place: AttributedSource,
  count: (batch: Batch) => void,
): Promise<void> {
  const { number } = place.application;
  if (recognition === undefined) return laneOf(number).submit(number, count);
  const { identity, repeats } = recognition;
  const now = clock.now();
  const before = messages.find(identity, now);
  if (before === undefined) {
    return laneOf(number).submit(number, (batch) => {
      const from = batch.extent;
      count(batch);
      // Other nodes skip identities they know. A message that may only resemble another is therefore not bound to its identity.
      messages.add(identity, now, batch, repeats ? from : batch.extent);
    });
  }
  if (!repeats) {
    return laneOf(number).submit(number, (batch) => {
      count(batch);
      ledger.noted(place, 'possible_repeat', batch);
    });
  }
  return before.then(() => {
    ledger.accepted(place);
    ledger.noted(place, 'repeated');
  });
}

export interface CountingDeps extends AdmissionDeps {
  readonly keys: KeyFinder;
  readonly dictionary: Pick<SeriesDictionary, 'of' | 'forget'>;
  readonly senders: Senders;
  readonly messages: SeenMessages;
  readonly ledger: Ledger;
  /** All messages of an application go through one lane. */
  laneOf(applicationNumber: number): Pick<Lane, 'submit' | 'addBefore'>;
}

export interface KeyFinder {
  findKey(text: string): KeyHolder | undefined;
  markUsed(holder: KeyHolder): void;
  markLeaked(holder: KeyHolder): void;
  markRefused(holder: KeyHolder, code: RefusalCode): void;
}
