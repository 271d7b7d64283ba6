import { randomBytes as systemRandom } from 'node:crypto';

/** A position in one of the two logs: a version of the accounts, or an entry of usage. Both are numbered 1, 2, 3 and so on. */
export interface LogPosition {
  readonly position: number;
  /** Random, as decimal text. Two histories of a database may share a position, but never an id. */
  readonly id: string;
}

/** Before the first entry. */
export const logStart: LogPosition = { position: 0, id: '0' };

/** Whether both are the same entry of the same history. */
export function isSameEntry(one: LogPosition, other: LogPosition): boolean {
  return one.position === other.position && one.id === other.id;
}

/** Generates the id of an entry: a positive number of 63 bits. */
export function newLogId(randomBytes: (length: number) => Uint8Array = systemRandom): string {
  return String(Buffer.from(randomBytes(8)).readBigUInt64BE() >> 1n);
}

/** An entry in PostgreSQL. */
export interface LogEntry<Body = unknown> extends LogPosition {
  /** `null` if it was trimmed, or not read because the reader has applied it. */
  readonly body: Body | null;
}

export type Whole<Entry extends LogEntry> = Entry & { readonly body: NonNullable<Entry['body']> };

export interface LogRead<Entry extends LogEntry> {
  readonly from: LogPosition;
  /** In order, including that entry: its id proves that the reader has a part of this log. */
  readonly entries: readonly Entry[];
  /** The end of the log. Missing if the read stopped before it. */
  readonly head?: LogPosition;
}

/** The log cannot be followed: the content has to be replaced. */
export class LogGap extends Error {
  override readonly name = 'LogGap';
  /** Whether PostgreSQL does not have the last entry applied: it reverted to an earlier state, or has trimmed that part. */
  readonly isLost: boolean;

  constructor(message: string, isLost = false) {
    super(message);
    this.isLost = isLost;
  }
}

/** Returns the entries that follow the last one applied. @throws {LogGap} */
export function entriesAfter<Entry extends LogEntry>(read: LogRead<Entry>): readonly Whole<Entry>[] {
  const { from, entries, head } = read;
  const isFound = from.position === 0 || entries.some((entry) => isSameEntry(entry, from));
  if (head?.position === from.position ? head.id !== from.id : !isFound)
    throw new LogGap('PostgreSQL does not have the entry that was applied last', true);
  const end = head?.position ?? Number.POSITIVE_INFINITY;
  const next = entries.filter(({ position }) => position > from.position && position <= end);
  const hasHole = next.some(({ position }, index) => position !== from.position + 1 + index);
  if (hasHole || (head !== undefined && !isSameEntry(next.at(-1) ?? from, head)))
    throw new LogGap('a part of the log is missing');
  if (!next.every(isWhole)) throw new LogGap('the log continues in a snapshot');
  return next;
}

function isWhole<Entry extends LogEntry>(entry: Entry): entry is Whole<Entry> {
  return entry.body !== null;
}

/** A node's copy of what a log describes. */
export interface LogContent {
  /** The last entry applied, written in the same transaction as its effects. */
  readonly applied: LogPosition;
  /** Why the content must be replaced in any case. */
  readonly unusable: string | undefined;
}

/**
 * Follows a log: applies the entries that come next, or replaces the content if there is a gap. The two logs are read differently.
 * Reading the accounts is one statement that reads to the end and also commits, which confirms it, because a request waits for it.
 * Usage is read in steps of bounded size, after a heartbeat has confirmed where the log ends.
 */
export abstract class Follower<Entry extends LogEntry, Read extends LogRead<Entry> = LogRead<Entry>> {
  readonly #content: LogContent;
  #replacing: Promise<void> | undefined;

  constructor(content: LogContent) {
    this.#content = content;
  }

  abstract read(): Promise<Read>;
  protected abstract apply(entries: readonly Whole<Entry>[], read: Read): Promise<void>;
  protected abstract load(gap: LogGap): Promise<void>;

  /** Applies the result of a read. @returns the entries; `undefined` if the content was replaced */
  async follow(read: Read): Promise<readonly Whole<Entry>[] | undefined> {
    try {
      const next = this.next(read);
      await this.apply(next, read);
      return next;
    } catch (error) {
      if (!(error instanceof LogGap)) throw error;
      // Another call may have applied entries since.
      if (!isSameEntry(this.#content.applied, read.from)) return this.follow(await this.read());
      await this.replace(error);
      return undefined;
    }
  }

  /** Returns the entries to apply next. @throws {LogGap} */
  next(read: LogRead<Entry>): readonly Whole<Entry>[] {
    if (this.#content.unusable !== undefined) throw new LogGap(this.#content.unusable);
    return entriesAfter(read);
  }

  /** Replaces the content, once for all calls that find the same gap. */
  replace(gap: LogGap): Promise<void> {
    this.#replacing ??= this.load(gap).finally(() => {
      this.#replacing = undefined;
    });
    return this.#replacing;
  }
}
