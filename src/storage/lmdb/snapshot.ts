import type { RootDatabase, Transaction } from 'lmdb';

/**
 * A consistent view of a store. While the snapshot is open, its pages are not reused, so commits make the file grow.
 */
export type Snapshot = Transaction;

/** A long read that pauses (`yield`), so that other work can run between its steps. */
export type Reading<T> = Generator<undefined, T, undefined>;

/** Number of items to read between two pauses. */
const stride = 128;

/** Reads items one by one, and pauses at intervals. */
export function* readEach<T>(items: Iterable<T>, take: (item: T) => void): Reading<void> {
  let left = stride;
  for (const item of items) {
    take(item);
    left -= 1;
    if (left > 0) continue;
    left = stride;
    yield;
  }
}

/** Opens a snapshot of all data committed so far. Close the snapshot with `done()`. */
export function openSnapshot(lmdb: RootDatabase<Buffer, Buffer>): Snapshot {
  lmdb.resetReadTxn(); // Includes all commits so far in the snapshot.
  const snapshot = lmdb.useReadTransaction();
  lmdb.resetReadTxn(); // Later reads use another transaction. The snapshot keeps its transaction until `done()`.
  return snapshot;
}

/** Reads from one snapshot of the current state on disk, and closes the snapshot at the end. */
export function* fromSnapshot<T>(lmdb: RootDatabase<Buffer, Buffer>, read: (at: Snapshot) => Reading<T>): Reading<T> {
  const snapshot = openSnapshot(lmdb);
  try {
    return yield* read(snapshot);
  } finally {
    snapshot.done();
  }
}

/** The option for reading a range from a snapshot; without a snapshot, the read sees the current state on disk. */
export function readAt(snapshot: Snapshot | undefined): { readonly transaction?: Snapshot } {
  return snapshot === undefined ? {} : { transaction: snapshot };
}
