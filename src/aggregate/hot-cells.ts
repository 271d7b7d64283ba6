import { cellKeyBytes, resolution, writeCellKey } from '../store/cells.ts';
import type { Table } from '../store/environment.ts';

/** How a kind of cell begins and how it lies in the store. */
export interface CellCodec<T> {
  readonly bytes: number;
  empty(): T;
  read(value: Buffer): T;
  write(value: Buffer, cell: T): void;
}

interface HotCell<T> {
  readonly ref: number;
  readonly minute: number;
  readonly cell: T;
  touched: boolean;
}

/**
 * The minute cells that are being written to, kept in memory so that a commit is puts only and no gets. What is in
 * here was read from the store or committed to it, except for what was touched since the last `put`.
 */
export class HotCells<T> {
  private readonly table: Table;
  private readonly codec: CellCodec<T>;
  private readonly limit: number;
  private readonly minutes = new Map<number, Map<number, HotCell<T>>>();
  private touched: HotCell<T>[] = [];
  private size = 0;
  private readonly key = Buffer.alloc(cellKeyBytes);
  private readonly value: Buffer;

  /** @param limit most cells kept in memory between two commits */
  constructor(table: Table, codec: CellCodec<T>, limit: number) {
    this.table = table;
    this.codec = codec;
    this.limit = limit;
    this.value = Buffer.alloc(codec.bytes);
  }

  /** The cell of a series in a minute, to be changed in place by the caller. */
  touch(ref: number, minute: number): T {
    const cells = this.minutes.get(minute) ?? this.openMinute(minute);
    const hot = cells.get(ref) ?? this.load(cells, ref, minute);
    if (!hot.touched) {
      hot.touched = true;
      this.touched.push(hot);
    }
    return hot.cell;
  }

  /** Puts every touched cell; call it inside the transaction. */
  put(): void {
    for (const hot of this.touched) {
      writeCellKey(this.key, hot.ref, resolution.minute, hot.minute);
      this.codec.write(this.value, hot.cell);
      this.table.putSync(this.key, this.value);
      hot.touched = false;
    }
    this.touched = [];
    if (this.size > this.limit) this.forget();
  }

  /** Drops everything, also what was not put: after a commit that failed, the store is the truth. */
  forget(): void {
    this.minutes.clear();
    this.touched = [];
    this.size = 0;
  }

  /** Time moves on, so the minutes before the last one are hardly written to any more. */
  private openMinute(minute: number): Map<number, HotCell<T>> {
    for (const [old, cells] of this.minutes) {
      if (old >= minute - 1 || [...cells.values()].some((hot) => hot.touched)) continue;
      this.minutes.delete(old);
      this.size -= cells.size;
    }
    const cells = new Map<number, HotCell<T>>();
    this.minutes.set(minute, cells);
    return cells;
  }

  private load(cells: Map<number, HotCell<T>>, ref: number, minute: number): HotCell<T> {
    writeCellKey(this.key, ref, resolution.minute, minute);
    const stored = this.table.get(this.key);
    const cell = stored === undefined ? this.codec.empty() : this.codec.read(stored);
    const hot = { ref, minute, cell, touched: false };
    cells.set(ref, hot);
    this.size += 1;
    return hot;
  }
}
