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

/** Why a log cannot be followed from an entry on. */
export interface LogGap {
  readonly gap: string;
  /** PostgreSQL does not have the entry: it reverted to an earlier state, or has trimmed that part of the log. */
  readonly isLost: boolean;
}

const lost: LogGap = { gap: 'PostgreSQL does not have the entry that was applied last', isLost: true };
const hole: LogGap = { gap: 'a part of the log is missing', isLost: false };
const trimmed: LogGap = { gap: 'the log goes on in a snapshot', isLost: false };

/** Finds the entries that follow the last one applied. */
export function entriesAfter<Entry extends LogEntry>({
  from,
  entries,
  head,
}: LogRead<Entry>): readonly Whole<Entry>[] | LogGap {
  if (head?.position === from.position) return head.id === from.id ? [] : lost;
  if (from.position > 0 && !entries.some((entry) => isSameEntry(entry, from))) return lost;
  const end = head?.position ?? Number.POSITIVE_INFINITY;
  const next = entries.filter(({ position }) => position > from.position && position <= end);
  if (next.some(({ position }, index) => position !== from.position + 1 + index)) return hole;
  if (head !== undefined && !isSameEntry(next.at(-1) ?? from, head)) return hole;
  return next.every(isWhole) ? next : trimmed;
}

function isWhole<Entry extends LogEntry>(entry: Entry): entry is Whole<Entry> {
  return entry.body !== null;
}

/**
 * Keeps what a node holds of a log at the end of that log. It applies the entries that follow, or replaces all content if none
 * follows. The two logs differ in how they are read:
 * - A read of the accounts is one statement that also commits, because a request waits for it, and its commit confirms what it
 *   has read. It reads to the end.
 * - Usage is read in steps of bounded size, after a heartbeat that confirms where the log ends.
 */
export abstract class Follower<Entry extends LogEntry, Read extends LogRead<Entry> = LogRead<Entry>> {
  #loading: Promise<void> | undefined;

  /** The last entry applied, written to disk in the same transaction as its content. */
  abstract get applied(): LogPosition;
  /** Why the content is not usable as it is, whatever the log says. */
  protected abstract get unusable(): string | undefined;
  abstract read(): Promise<Read>;
  /** @param entries follow the last one applied when `read` began */
  protected abstract apply(entries: readonly Whole<Entry>[], read: Read): Promise<void>;
  /** Replaces the content by what PostgreSQL has. */
  protected abstract replace(gap: LogGap): Promise<void>;

  /**
   * Applies what a read found.
   * @returns the entries; `undefined` if the content was replaced
   */
  async follow(read: Read): Promise<readonly Whole<Entry>[] | undefined> {
    const next = this.next(read);
    if ('gap' in next) {
      if (!isSameEntry(this.applied, read.from)) return this.follow(await this.read()); // It has moved on meanwhile.
      await this.load(next);
      return undefined;
    }
    await this.apply(next, read);
    return next;
  }

  /** Finds the entries to apply next. */
  next(read: LogRead<Entry>): readonly Whole<Entry>[] | LogGap {
    return this.unusable === undefined ? entriesAfter(read) : { gap: this.unusable, isLost: false };
  }

  /** Replaces the content, once for all who find the same gap. */
  load(gap: LogGap): Promise<void> {
    this.#loading ??= this.replace(gap).finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }
}
