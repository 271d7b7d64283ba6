import type { Refusal } from './apply-entry.ts';
import type { NodeParts } from './node-parts.ts';

/** Maximum number of rows kept for display. Each heartbeat counts them. */
const maxKept = 1000;
/** Interval between log messages: a single delta can have a thousand such rows. */
const logEveryMs = 60_000;

/** Keeps rows that could not be applied for display, and logs the first one, and then their number. */
export class RefusedRows {
  readonly #parts: Pick<NodeParts, 'link' | 'clock' | 'log'>;
  #loggedAt = Number.NEGATIVE_INFINITY;
  /** Number of rows since the last message, and the last one. */
  #rows = 0;
  #last: Refusal | undefined;

  constructor(parts: Pick<NodeParts, 'link' | 'clock' | 'log'>) {
    this.#parts = parts;
  }

  /** All replicas refuse the same rows, so each is kept once. */
  async add(refused: readonly Refusal[]): Promise<void> {
    if (refused.length === 0) return;
    this.#rows += refused.length;
    this.#last = refused.at(-1);
    this.logDue();
    const column = (name: 'stream' | 'seq' | 'place' | 'reason' | 'row') => refused.map((each) => each[name]);
    await this.#parts.link.query({
      name: 'fm-refused',
      text: `INSERT INTO fm_refused (stream, seq, place, reason, "row", at)
             SELECT DISTINCT new.*, now() FROM unnest($1::text[], $2::int8[], $3::text[], $4::text[], $5::text[])
               AS new (stream, seq, place, reason, "row")
             WHERE NOT EXISTS (SELECT 1 FROM fm_refused AS known WHERE known.stream = new.stream AND known.seq = new.seq
               AND known.place = new.place AND known."row" = new."row")
             LIMIT greatest(0, $6 - (SELECT count(*) FROM fm_refused))`,
      values: [
        ...[column('stream'), column('seq'), column('place'), column('reason'), column('row')],
        maxKept,
      ],
    });
  }

  /** Logs the rows since the last message. Call it regularly. */
  logDue(): void {
    const now = this.#parts.clock.monotonic();
    if (this.#last === undefined || now - this.#loggedAt < logEveryMs) return;
    const { stream, seq, place, reason } = this.#last;
    this.#parts.log.warn('rows of deltas were refused', { rows: this.#rows, stream, seq, place, reason });
    this.#loggedAt = now;
    this.#rows = 0;
    this.#last = undefined;
  }
}
