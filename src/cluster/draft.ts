import { seriesPerEnvironment, seriesRef } from '../store/blocks.ts';
import { seriesName } from '../store/series.ts';
import { environmentOrdinal } from '../store/sketches.ts';
import type { SpoolStore } from '../store/spool.ts';
import { emptyContent } from './delta.ts';

/** What a delta holds at most, about: packets wait while it is sealed. */
export interface DraftRoom {
  readonly rows: number;
  /** Before they are deflated. */
  readonly bytes: number;
}

export const wholeRoom: DraftRoom = { rows: 1000, bytes: 96 * 1024 };

/** What goes into the next delta of a stream, until it is full. */
export class Draft {
  readonly content = emptyContent();
  /** The refs that are named here and were not before. */
  readonly named = new Set<number>();
  readonly #store: SpoolStore;
  readonly #isNamed: (ref: number) => boolean;
  readonly #room: DraftRoom;
  #rows = 0;
  #bytes = 0;

  /** @param isNamed whether the stream has said the name of a series (see `seriesRef`) */
  constructor(store: SpoolStore, isNamed: (ref: number) => boolean, room: DraftRoom) {
    this.#room = room;
    this.#store = store;
    this.#isNamed = isNamed;
  }

  get isFull(): boolean {
    return this.#rows >= this.#room.rows || this.#bytes >= this.#room.bytes;
  }

  get isEmpty(): boolean {
    return this.#rows === 0;
  }

  /** Accounts for rows and bytes that were added. */
  grow(rows: number, bytes: number): void {
    this.#rows += rows;
    this.#bytes += bytes;
  }

  /** Says the name of a series, unless the stream has said it. An environment as a whole has none. */
  name(ref: number): void {
    if (this.#isNamed(ref) || this.named.has(ref)) return;
    const ordinal = ref % seriesPerEnvironment;
    if (ordinal === environmentOrdinal) return;
    const environment = Math.floor(ref / seriesPerEnvironment);
    const name = seriesName(this.#store, environment, ordinal);
    if (name === undefined) return; // Its environment was deleted.
    this.named.add(ref);
    this.content.series.push({ environment, ordinal, name });
    this.#bytes += nameBytes;
  }

  /** Says the names of the series in the first column of flat rows. @param environment if the column has ordinals of it */
  nameRows(rows: readonly number[], width: number, environment = 0): void {
    for (let at = 0; at < rows.length; at += width) this.name(seriesRef(environment, rows[at]!));
  }
}

const nameBytes = 40;
