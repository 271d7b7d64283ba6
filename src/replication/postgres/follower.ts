import { isSameEntry, type LogPosition } from './log-position.ts';

/** An entry as PostgreSQL holds it. */
export interface LogEntry<Body = unknown> extends LogPosition {
  /** `null` if it was trimmed, or not read because the reader has applied it. */
  readonly body: Body | null;
}

/** An entry that has its body. */
export type Whole<Entry extends LogEntry> = Entry & { readonly body: NonNullable<Entry['body']> };

/** What a read of a log found. */
export interface LogRead<Entry extends LogEntry> {
  /** The last entry that was applied when the read began. */
  readonly from: LogPosition;
  /** In order, from that entry on: its id proves that the reader holds a part of this very log. */
  readonly entries: readonly Entry[];
  /** The end of the log. Missing if the read stopped before it. */
  readonly head?: LogPosition;
}

/** The log cannot be followed from an entry on: the content has to be replaced. */
export class LogGap extends Error {
  override readonly name = 'LogGap';
  /** PostgreSQL does not have the entry: it reverted to an earlier state, or has trimmed that part of the log. */
  readonly isLost: boolean;

  constructor(message: string, isLost = false) {
    super(message);
    this.isLost = isLost;
  }
}

/** Finds the entries that follow the last one applied. @throws {LogGap} */
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
  if (!next.every(isWhole)) throw new LogGap('the log goes on in a snapshot');
  return next;
}

function isWhole<Entry extends LogEntry>(entry: Entry): entry is Whole<Entry> {
  return entry.body !== null;
}

/** What a node holds of a log. */
export interface LogContent {
  /** The last entry applied, written to disk in the same transaction as what it says. */
  readonly applied: LogPosition;
  /** Why the content must be replaced, whatever the log says. */
  readonly unusable: string | undefined;
}

/**
 * Keeps what a node holds of a log at the end of that log. It applies the entries that follow, or replaces the content if none do.
 * The two logs differ in how they are read. A read of the accounts is one statement that also commits, since a request waits for
 * it and its commit confirms what it has read; it reads to the end. Usage is read in steps of bounded size, after a heartbeat that
 * confirms where the log ends.
 */
export abstract class Follower<Entry extends LogEntry, Read extends LogRead<Entry> = LogRead<Entry>> {
  readonly #content: LogContent;
  #replacing: Promise<void> | undefined;

  constructor(content: LogContent) {
    this.#content = content;
  }

  abstract read(): Promise<Read>;
  protected abstract apply(entries: readonly Whole<Entry>[], read: Read): Promise<void>;
  /** Replaces the content by what PostgreSQL has. */
  protected abstract load(gap: LogGap): Promise<void>;

  /**
   * Applies what a read found.
   * @returns the entries; `undefined` if the content was replaced
   */
  async follow(read: Read): Promise<readonly Whole<Entry>[] | undefined> {
    try {
      const next = this.next(read);
      await this.apply(next, read);
      return next;
    } catch (error) {
      if (!(error instanceof LogGap)) throw error;
      // Someone else may have applied entries since.
      if (!isSameEntry(this.#content.applied, read.from)) return this.follow(await this.read());
      await this.replace(error);
      return undefined;
    }
  }

  /** Finds the entries to apply next. @throws {LogGap} */
  next(read: LogRead<Entry>): readonly Whole<Entry>[] {
    if (this.#content.unusable !== undefined) throw new LogGap(this.#content.unusable);
    return entriesAfter(read);
  }

  /** Replaces the content, once for all who find the same gap. */
  replace(gap: LogGap): Promise<void> {
    this.#replacing ??= this.load(gap).finally(() => {
      this.#replacing = undefined;
    });
    return this.#replacing;
  }
}
