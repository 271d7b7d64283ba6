import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip as gzipWithCallback } from 'node:zlib';
import type { ReplicaStore } from '../store/replica-store.ts';
import { openSnapshot, type Snapshot } from '../store/snapshot.ts';
import { type Applied, nothingApplied } from './entry.ts';
import { ReplicaState } from './replica-state.ts';
import { encodePart, encodeRow, headOf, isOwnRow, replicaTables } from './snapshot-rows.ts';

const gzip = promisify(gzipWithCallback);

/** Bytes of rows in a part, which are about 1 MiB compressed. */
const usualPartBytes = 3 * 2 ** 20;
/** Bytes of rows that are collected between two turns of the event loop: it takes a millisecond or two. */
const turnBytes = 256 * 1024;

/** What a replica held at one position of the log. While it is open, commits make the file grow. */
export class ReplicaSnapshot {
  /** The last entry that is in it. */
  readonly applied: Applied;
  readonly #store: ReplicaStore;
  readonly #partBytes: number;
  #snapshot: Snapshot | undefined;

  /** @param partBytes bytes of rows in a part */
  constructor(store: ReplicaStore, partBytes = usualPartBytes) {
    this.#partBytes = partBytes;
    this.#store = store;
    this.#snapshot = openSnapshot(store.lmdb);
    this.applied = new ReplicaState(store, this.#snapshot).get('own:applied') ?? nothingApplied;
  }

  /**
   * Its parts, in their order; to be read once. Reading pauses, so that the event loop goes on, and closes the snapshot at the end,
   * also when it is left before.
   */
  async *parts(): AsyncGenerator<Buffer, void, undefined> {
    try {
      let compressed: Promise<Buffer> | undefined;
      for await (const part of this.#rawParts()) {
        // While one part is compressed, on a thread of its own, the next is collected.
        if (compressed !== undefined) yield await compressed;
        compressed = gzip(part, { level: 1 });
      }
      yield await compressed!;
    } finally {
      this.close();
    }
  }

  close(): void {
    this.#snapshot?.done();
    this.#snapshot = undefined;
  }

  async *#rawParts(): AsyncGenerator<Buffer, void, undefined> {
    const transaction = this.#snapshot;
    if (transaction === undefined) throw new Error('The parts of a snapshot are read once');
    let [number, bytes, turn] = [0, 0, 0];
    let rows: Buffer[] = [];
    const finish = (isLast: boolean) =>
      encodePart(number, rows, isLast, number === 0 ? headOf(this.applied) : undefined);
    for (const [index, name] of replicaTables.entries()) {
      for (const { key, value } of this.#store[name].getRange({ transaction })) {
        if (isOwnRow(name, key)) continue;
        const row = encodeRow(index, key, value);
        rows.push(row);
        bytes += row.length;
        turn += row.length;
        if (turn < Math.min(turnBytes, this.#partBytes)) continue;
        turn = 0;
        await setImmediate();
        if (bytes < this.#partBytes) continue;
        yield finish(false);
        number += 1;
        [rows, bytes] = [[], 0];
      }
    }
    yield finish(true);
  }
}
