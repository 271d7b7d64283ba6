import type { Batch } from '../commit/batch.ts';
import { digestWords } from '../commit/digest.ts';
import { type Message, messageLifeMs } from '../store/messages.ts';
import { ApplicationMessages } from './application-messages.ts';
import type { MessageIdentity } from './message-identity.ts';

/** Messages that are remembered, about 15 MB: four hundred a second for the life of one. */
export const maxSeenMessages = 2 ** 18;

/** What part of its messages an application forgets at once when it has more than its share. */
const forgottenPart = 1 / 64;

const kept = Promise.resolve();

/** No batch's number. */
const onDisk = 0;

/** Messages that a batch counts, until its commit is over. */
interface Counted {
  readonly batch: Batch;
  readonly number: number;
  readonly identities: MessageIdentity[];
}

/**
 * The messages of the last ten minutes, so that a repetition is not counted again. There is room for so many of all
 * applications; of more, those applications forget their oldest that have more than an equal share, so that none can make
 * another's be forgotten. The aggregate workers keep the messages on disk in the same transaction as what they count,
 * and delete what is forgotten here, so all of this is also true across a restart.
 */
export class SeenMessages {
  readonly #limit: number;
  readonly #applications = new Map<number, ApplicationMessages>();
  #size = 0;
  /** Batches whose commit is not over: no more than may wait for the disk. */
  readonly #byBatch = new Map<Batch, Counted>();
  readonly #byNumber = new Map<number, Counted>();
  #lastNumber = onDisk;

  /**
   * @param known what is on disk, the oldest first
   * @param limit most messages to remember
   */
  constructor(known: Iterable<Message> = [], limit = maxSeenMessages) {
    this.#limit = limit;
    for (const { identity, at } of known) this.#remember(digestWords(Buffer.from(identity)), at, onDisk);
  }

  /**
   * Whether a message was counted before: then it gives what resolves when that is on disk, and rejects when it was not
   * kept after all.
   * @param now Unix ms
   */
  find(identity: MessageIdentity, now: number): Promise<void> | undefined {
    const own = this.#applications.get(identity[0]);
    const at = own?.find(identity, now - messageLifeMs) ?? -1;
    return at < 0 ? undefined : (this.#byNumber.get(own!.batchAt(at))?.batch.durable ?? kept);
  }

  /** Takes a message that a batch has all of, counted at `now` (Unix ms). If that is not kept, it was not seen. */
  add(identity: MessageIdentity, now: number, batch: Batch): void {
    const counted = this.#byBatch.get(batch) ?? this.#open(batch);
    counted.identities.push(identity);
    batch.messages.add(identity, now);
    this.#remember(identity, now, counted.number, batch);
  }

  /** Lets go of the messages of a deleted application. */
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

  /** @param batch takes to the disk what is forgotten; without one it stays there until it has expired */
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
