import type { KeyHolder } from '../accounts/key-holder.ts';
import type { Lane } from '../storage/commit/lane.ts';
import type { SeriesDictionary } from '../storage/commit/series-dictionary.ts';
import type { AdmissionDeps } from './admission.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { SeenMessages } from './seen-messages.ts';
import type { Senders } from './senders.ts';

/** Dependencies of counting. */
export interface CountingDeps extends AdmissionDeps {
  readonly keys: KeyFinder;
  readonly dictionary: SeriesDictionary;
  readonly senders: Senders;
  readonly messages: SeenMessages;
  readonly ledger: Ledger;
  /** All messages of an application go through one lane. */
  laneOf(applicationNumber: number): Pick<Lane, 'submit' | 'addBefore'>;
}

/** Resolves application keys. */
export interface KeyFinder {
  findKey(text: string): KeyHolder | undefined;
  markUsed(holder: KeyHolder): void;
  markLeaked(holder: KeyHolder): void;
}
