import type { Batch } from '../storage/commit/batch.ts';
import { digestWords } from '../storage/commit/records.ts';
import { type Message, messageLifeMs } from '../storage/lmdb/messages.ts';
import { ApplicationMessages } from './application-messages.ts';
import type { MessageIdentity } from './message-identity.ts';

/** Maximum number of messages in memory, about 15 MB: 400 a second for ten minutes. */
export const maxSeenMessages = 2 ** 18;

/** Share of its messages that an application over its share forgets at once. */
const forgottenPart = 1 / 64;

const kept = Promise.resolve();

/** Not a valid batch number. */
const onDisk = 0;

/** The messages of a batch that is being committed. */
interface Counted {
  readonly batch: Batch;
  readonly number: number;
  readonly identities: MessageIdentity[];
}

/**
 * The messages of the last ten minutes, so that repetitions are not counted again. They include messages that others may merely
 * resemble: a marked retry repeats them. All applications share the memory. When it is full, those with more than an equal
 * share forget their oldest messages, so none can displace another's. The workers store the messages in the same transaction as
 * their counts, and delete the forgotten ones, so a restart changes nothing.
 */
export class SeenMessages {
  readonly #limit: number;
  readonly #applications = new Map<number, ApplicationMessages>();
  #size = 0;
  /** Batches being committed. The queue limits their number. */
  readonly #byBatch = new Map<Batch, Counted>();
  readonly #byNumber = new Map<number, Counted>();
  #lastNumber = onDisk;

  /**
   * @param known the stored messages, oldest first
   * @param limit maximum number of messages in memory
   */
  constructor(known: Iterable<Message> = [], limit = maxSeenMessages) {
    this.#limit = limit;
    for (const { identity, at } of known) this.#remember(digestWords(Buffer.from(identity)), at, onDisk);
  }

  /**
   * Finds a message counted before. The promise resolves when that is on disk, and rejects if its batch was rolled back.
   * @param now Unix ms
   */
  find(identity: MessageIdentity, now: number): Promise<void> | undefined {
    const own = this.#applications.get(identity[0]);
    const at = own?.find(identity, now - messageLifeMs) ?? -1;
    return at < 0 ? undefined : (this.#byNumber.get(own!.batchAt(at))?.batch.durable ?? kept);
  }

  /**
   * Adds a message that a batch counts at `now` (Unix ms). If the batch is rolled back, so is the message.
   * @param from the content of the batch before the message. Later additions are bound to the identity: other nodes skip them
   *   if they know it already
   */
  add(identity: MessageIdentity, now: number, batch: Batch, from = batch.extent): void {
    const counted = this.#byBatch.get(batch) ?? this.#open(batch);
    counted.identities.push(identity);
    batch.messages.add(identity, now, from, batch.extent);
    this.#remember(identity, now, counted.number, batch);
  }

  /** Drops the messages of a deleted application. */
  forget(application: number): void {
    this.#size -= this.#applications.get(application)?.size ?? 0;
    this.#applications.delete(application);
  }

  #open(batch: Batch): Counted {
    this.#lastNumber = (this.#lastNumber % 0xffff_ffff) + 1;
    const counted = { batch, number: this.#lastNumber, identities: [] };
    this.#byBatch.set(batch, counted);
    this.#byNumber.set(counted.number, counted);
    batch.durable.then(
      () => this.#close(counted),
      () => this.#revoke(counted),
    );
    return counted;
  }

  #close({ batch, number }: Counted): void {
    this.#byBatch.delete(batch);
    this.#byNumber.delete(number);
  }

  #revoke(counted: Counted): void {
    this.#close(counted);
    for (const each of counted.identities) this.#applications.get(each[0])?.revoke(each, counted.number);
  }

  #remember(identity: MessageIdentity, at: number, number: number, batch?: Batch): void {
    const own = this.#applications.get(identity[0]) ?? this.#openApplication(identity[0]);
    const before = own.size;
    own.expire(at - messageLifeMs);
    own.add(identity, at, number);
    this.#size += own.size - before;
    if (this.#size > this.#limit) this.#makeRoom(at, batch);
  }

  #openApplication(application: number): ApplicationMessages {
    const messages = new ApplicationMessages();
    this.#applications.set(application, messages);
    return messages;
  }

  /** @param batch deletes the forgotten messages on disk; without one they stay there until they expire */
  #makeRoom(now: number, batch: Batch | undefined): void {
    const share = this.#limit / this.#applications.size;
    for (const [application, own] of this.#applications) {
      if (own.newest <= now - messageLifeMs) this.forget(application);
      else if (own.size > share) this.#forgetPart(application, own, batch);
    }
  }

  #forgetPart(application: number, own: ApplicationMessages, batch: Batch | undefined): void {
    const count = Math.ceil(own.size * forgottenPart);
    own.forget(count, (key, a, b, time) => batch?.messages.forget([application, key, a, b], time));
    this.#size -= count;
  }
}
