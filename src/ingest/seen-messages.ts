import { type Message, messageLifeMs } from '../store/messages.ts';
import type { Batch } from './batch.ts';
import type { MessageIdentity } from './message-identity.ts';

/** Messages that are remembered, about 25 MB: five hundred a second for the life of one. */
export const mostSeenMessages = 300_000;

/**
 * The messages of the last ten minutes, so that a repetition is not counted again. The aggregate workers keep them on
 * disk in the same transaction as what they count, so this is also true across a restart.
 */
export class SeenMessages {
  private readonly limit: number;
  /**
   * When a message was counted, by its identity. Two generations: forgetting messages one by one from the front of a map
   * leaves gaps there, which every look at its front must then pass over.
   */
  private recent = new Map<string, number>();
  private older: ReadonlyMap<string, number> = new Map();
  /** When the recent generation began, Unix ms. */
  private since = 0;
  /** Messages whose commit is not over: no more than may wait for the disk. */
  private readonly inFlight = new Map<string, Promise<void>>();

  /**
   * @param known what is on disk, the oldest first
   * @param limit most messages to remember; of more the oldest half is forgotten before its time
   */
  constructor(known: Iterable<Message> = [], limit = mostSeenMessages) {
    this.limit = limit;
    for (const { identity, at } of known) this.remember(nameOf(identity), at);
  }

  /**
   * Counts a message unless it was counted before. A repetition of one whose commit is under way ends as that does.
   * @param now Unix ms
   * @param count adds all that the message says to a batch, without waiting for anything
   * @throws {Refusal} when the message was not kept: then it has not been seen, and may be sent again
   */
  once(identity: MessageIdentity, now: number, count: () => Batch): Promise<void> {
    const name = nameOf(identity);
    const pending = this.inFlight.get(name);
    if (pending !== undefined) return pending;
    const keptAt = this.recent.get(name) ?? this.older.get(name);
    if (keptAt !== undefined && now - keptAt < messageLifeMs) return Promise.resolve();
    const batch = count();
    batch.addMessage(identity, now);
    const durable = this.settle(name, now, batch.durable);
    this.inFlight.set(name, durable);
    return durable;
  }

  private async settle(name: string, now: number, durable: Promise<void>): Promise<void> {
    try {
      await durable;
      this.remember(name, now);
    } finally {
      this.inFlight.delete(name);
    }
  }

  private remember(name: string, at: number): void {
    if (this.recent.size >= this.limit / 2 || at - this.since >= messageLifeMs) {
      this.older = this.recent;
      this.recent = new Map();
      this.since = at;
    }
    this.recent.set(name, at);
  }
}

/** One character a byte: the shortest key a map can have for it. */
function nameOf(identity: MessageIdentity): string {
  return Buffer.from(identity.buffer, identity.byteOffset, identity.byteLength).toString('latin1');
}
