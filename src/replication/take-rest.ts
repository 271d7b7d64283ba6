import { createHash } from 'node:crypto';
import { pairKey, removeRange } from '../storage/lmdb/key-prefix.ts';
import { allSeries } from '../storage/lmdb/series.ts';
import type { SpoolStore } from '../storage/lmdb/spool.ts';
import { emptyContent, encodeDelta } from './delta.ts';
import { deltasOf, nextNumber, putDelta } from './spool.ts';

/** A stream that nothing is added to any more, in the engine or here. */
export interface ClosedStream {
  readonly stream: string;
  /** The last delta that the engine has. Those after it are certainly not in its log. */
  readonly after: number;
}

/**
 * Moves what a closed stream holds beyond `after` to a stream of its own, which is shipped like any other. Its first delta names all
 * series, because replicas forget the names that a closed stream gave. The bodies of the others stay: nothing reads the stream and
 * number in them. Call it in a transaction.
 */
export function takeRest(store: SpoolStore, { stream, after }: ClosedStream): void {
  const record = store.streams.get(stream);
  if (record === undefined || record.sealed <= after) return;
  const { number, acknowledged, acknowledgements, first } = record;
  const rest = deltasOf(store, number, Math.max(after + 1, first), Number.MAX_SAFE_INTEGER);
  store.streams.putSync(stream, {
    ...record,
    sealed: after,
    acknowledged: Math.min(acknowledged, after),
    acknowledgements: acknowledgements.filter(([seq]) => seq <= after),
    first: Math.min(first, after + 1),
  });
  const [next] = rest;
  if (next === undefined) return;
  const taking = { number: nextNumber(store), stream: unusedHeirOf(store, stream) };
  const { through, since, version } = next;
  const head = { stream: taking.stream, seq: 1, through, since, version };
  const names = encodeDelta({ ...head, ...emptyContent(), series: [...allSeries(store)] });
  putDelta(store, taking.number, { ...head, body: names });
  for (const [at, delta] of rest.entries()) putDelta(store, taking.number, { ...delta, seq: at + 2 });
  removeRange(store.deltas, {
    start: pairKey(number, rest[0]!.seq),
    end: pairKey(number + 1, 0),
    limit: rest.length,
  });
  store.streams.putSync(taking.stream, {
    ...{ ...taking, restOf: stream, mark: record.mark, state: 'open', first: 1 },
    ...{ sealed: rest.length + 1, acknowledged: 0, acknowledgements: [] },
  });
}

/**
 * The id of the stream that goes on with a closed one. It follows from that one's: two copies of a directory, which hold the same
 * deltas, give them the same id, so the engine takes them once.
 */
function unusedHeirOf({ streams }: SpoolStore, stream: string): string {
  const heir = createHash('sha256').update(stream).digest('hex').slice(0, 32);
  return streams.doesExist(heir) ? unusedHeirOf({ streams } as SpoolStore, heir) : heir;
}
