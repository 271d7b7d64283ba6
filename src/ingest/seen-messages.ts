import { type Message, messageLifeMs } from '../store/messages.ts';
import type { Batch } from './batch.ts';
import { digestWords } from './digest.ts';
import type { MessageIdentity } from './message-identity.ts';
import { MessageTable } from './message-table.ts';

/** Messages that are remembered, about 13 MB: four hundred a second for the life of one. */
export const mostSeenMessages = 2 ** 18;

/** The time of a message that was not kept. */
const never = Number.NEGATIVE_INFINITY;

const kept = Promise.resolve();

/**
 * The messages of the last ten minutes, so that a repetition is not counted again. The aggregate workers keep them on
 * disk in the same transaction as what they count, so this is also true across a restart.
 */
export class SeenMessages {
  private readonly limit: number;
  /** When a message was counted. Two generations, so that what is old is forgotten in one go. */
  private recent = new MessageTable();
  private older = new MessageTable();
  /** When the recent generation began, Unix ms. */
  private since = 0;
  /** Messages whose commit is not over, by their batch: no more than may wait for the disk. */
  private readonly inFlight = new Map<Batch, MessageIdentity[]>();

  /**
   * @param known what is on disk, the oldest first
   * @param limit most messages to remember; of more the oldest half is forgotten before its time
   */
  constructor(known: Iterable<Message> = [], limit = mostSeenMessages) {
    this.limit = limit;
    for (const { identity, at } of known) this.remember(digestWords(Buffer.from(identity)), at);
  }

  /**
   * Whether a message was counted before: then it gives what resolves when that is on disk, and rejects when it was not
   * kept after all.
   * @param now Unix ms
   */
  find(identity: MessageIdentity, now: number): Promise<void> | undefined {
    const at = this.recent.get(identity) ?? this.older.get(identity);
    return at === undefined || now - at >= messageLifeMs ? undefined : this.commitOf(identity);
  }

  /** Takes a message that a batch has all of, counted at `now` (Unix ms). If that is not kept, it was not seen. */
  add(identity: MessageIdentity, now: number, batch: Batch): void {
    batch.addMessage(identity, now);
    this.remember(identity, now);
    (this.inFlight.get(batch) ?? this.open(batch)).push(identity);
  }

  private commitOf(identity: MessageIdentity): Promise<void> {
    for (const [batch, identities] of this.inFlight) {
      if (identities.some((each) => each.every((word, at) => word === identity[at]))) return batch.durable;
    }
    return kept;
  }

  private open(batch: Batch): MessageIdentity[] {
    const identities: MessageIdentity[] = [];
    this.inFlight.set(batch, identities);
    batch.durable.then(
      () => this.inFlight.delete(batch),
      () => {
        this.inFlight.delete(batch);
        for (const identity of identities) this.remember(identity, never);
      },
    );
    return identities;
  }

  private remember(identity: MessageIdentity, at: number): void {
    if (this.recent.size >= this.limit / 2 || at - this.since >= messageLifeMs) {
      this.older = this.recent;
      this.recent = new MessageTable();
      this.since = at;
    }
    this.recent.set(identity, at);
  }
}
