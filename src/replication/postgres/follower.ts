import { randomBytes as systemRandom } from 'node:crypto';

/** A position in one of the two logs, starting at 1: a version of the accounts, or an entry of usage. */
export interface LogPosition {
  readonly position: number;
  /** Random id, as decimal text. If PostgreSQL loses entries, their positions are used again, but not their ids. */
  readonly id: string;
}

/** The position before the first entry. */
export const logStart: LogPosition = { position: 0, id: '0' };

/** True if two positions name the same entry of the same log. */
export function isSameEntry(one: LogPosition, other: LogPosition): boolean {
  return one.position === other.position && one.id === other.id;
}

/** Generates the id of an entry: a positive number of 63 bits. */
export function newLogId(randomBytes: (length: number) => Uint8Array = systemRandom): string {
  return String(Buffer.from(randomBytes(8)).readBigUInt64BE() >> 1n);
}

/** An entry in PostgreSQL. */
export interface LogEntry<Body = unknown> extends LogPosition {
  /** Body; `null` if the body was trimmed, or was not read because the reader has applied the entry. */
  readonly body: Body | null;
}

export type Whole<Entry extends LogEntry> = Entry & { readonly body: NonNullable<Entry['body']> };

export interface LogRead<Entry extends LogEntry> {
  readonly from: LogPosition;
  /** The entries from `from` on, in order. The entry at `from` proves that the reader has followed this log. */
  readonly entries: readonly Entry[];
  /** The end of the log. Missing if the read stopped before the end. */
  readonly head?: LogPosition;
}

/** Thrown if a log cannot be followed. The content must then be replaced. */
export class LogGap extends Error {
  override readonly name = 'LogGap';
  /** True if the last applied entry is missing: PostgreSQL reverted to an earlier state, or trimmed the entry. */
  readonly isLost: boolean;

  constructor(message: string, isLost = false) {
    super(message);
    this.isLost = isLost;
  }
}

/** Returns the entries after the last applied entry. @throws {LogGap} */
export function entriesAfter<Entry extends LogEntry>(read: LogRead<Entry>): readonly Whole<Entry>[] {
  const { from, entries, head } = read;
  const isFound = from.position === 0 || entries.some((entry) => isSameEntry(entry, from));
  if (head?.position === from.position ? head.id !== from.id : !isFound)
    throw new LogGap('PostgreSQL does not have the entry that was applied last', true);
  const end = head?.position ?? Number.POSITIVE_INFINITY;
  const next = entries.filter(({ position }) => position > from.position && position <= end);
  const hasHole = next.some(({ position }, index) => position !== from.position + 1 + index);
  if (hasHole || (head !== undefined && !isSameEntry(next.at(-1) ?? from, head)))
    throw new LogGap('some entries of the log are missing');
  if (!next.every(isWhole)) throw new LogGap('the log continues in a snapshot');
  return next;
}

function isWhole<Entry extends LogEntry>(entry: Entry): entry is Whole<Entry> {
  return entry.body !== null;
}

/** The content of a node that a log describes, such as its copy of the accounts. */
export interface LogContent {
  /** The last entry applied, written in the same transaction as its effects. */
  readonly applied: LogPosition;
  /** Reason why the content must be replaced in any case. */
  readonly unusable: string | undefined;
}

/**
 * Follows a log: applies the entries that come next, or replaces the content if there is a gap. The log of accounts is
 * read to its end by one statement, whose commit confirms the read, because requests wait for it. The log of usage is
 * read in steps of bounded size, after a heartbeat has confirmed its end.
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
      // Another call has applied entries since the read.
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
