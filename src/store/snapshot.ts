import type { RootDatabase, Transaction } from 'lmdb';

/** What a store held at one moment. As long as it is open, none of its pages is used again, and the file grows instead. */
export type Snapshot = Transaction;

/** A long read, which pauses (`yield`) wherever others may have a turn. */
export type Reading<T> = Generator<undefined, T, undefined>;

/** Reads what is on disk now from one snapshot, however often the reading pauses, and closes it. */
export function* fromSnapshot<T>(
  lmdb: RootDatabase<Buffer, Buffer>,
  read: (at: Snapshot) => Reading<T>,
): Reading<T> {
  lmdb.resetReadTxn(); // What was committed until now is in the snapshot.
  const snapshot = lmdb.useReadTransaction();
  lmdb.resetReadTxn(); // The next read takes another transaction, so this one ends when it is closed here.
  try {
    return yield* read(snapshot);
  } finally {
    snapshot.done();
  }
}

/** How a range of a table is read from a snapshot; without one it is read from what is on disk now. */
export function readAt(snapshot: Snapshot | undefined): { readonly transaction?: Snapshot } {
  return snapshot === undefined ? {} : { transaction: snapshot };
}
