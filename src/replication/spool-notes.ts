import { createHash } from 'node:crypto';
import { pairKey, removeRange } from '../storage/lmdb/key-prefix.ts';
import { allSeries } from '../storage/lmdb/series.ts';
import type { SpoolStore, StreamRecord } from '../storage/lmdb/spool.ts';
import { emptyContent, encodeDelta } from './delta.ts';
import type { ClosedStream, SealTask } from './seal.ts';
import { bytesOfDeltas, deltasOf, nextNumber, putDelta } from './spool.ts';

/** Maximum number of deltas removed in one step, since packets wait for it. */
const removedAtOnce = 16;

/** Notes the deltas that PostgreSQL has according to a task, and removes expired ones. Call it in a transaction. */
export function noteProgress(store: SpoolStore, task: SealTask): void {
  for (const { stream, seq, at } of task.acknowledged ?? []) {
    change(store, stream, (record) => acknowledge(store, record, seq, at));
  }
  for (const closed of task.closed ?? []) takeRest(store, closed);
  for (const stream of task.finished ?? []) change(store, stream, (record) => ({ ...record, state: 'done' }));
  if (task.removeBefore === undefined) return;
  let room = removedAtOnce;
  const records = Array.from(store.streams.getRange(), ({ value }) => value);
  for (const record of records) room -= removeOld(store, record, task.removeBefore, room);
}

function change(store: SpoolStore, stream: string, by: (record: StreamRecord) => StreamRecord): void {
  const record = store.streams.get(stream);
  if (record !== undefined) store.streams.putSync(stream, by(record));
}

const minuteMs = 60_000;

/** Keeps the last acknowledgement of each minute, so a delta is kept up to a minute longer. */
function acknowledge(store: SpoolStore, record: StreamRecord, seq: number, at: number): StreamRecord {
  const acknowledged = Math.max(record.acknowledged, seq);
  const { number, sealed, waitingBytes: before = 0 } = record;
  const waitingBytes =
    acknowledged >= sealed ? 0 : before - bytesOfDeltas(store, number, record.acknowledged + 1, acknowledged);
  const last = record.acknowledgements.at(-1);
  const isSameMinute = last !== undefined && Math.floor(last[1] / minuteMs) === Math.floor(at / minuteMs);
  const earlier = isSameMinute ? record.acknowledgements.slice(0, -1) : record.acknowledgements;
  return { ...record, acknowledged, waitingBytes, acknowledgements: [...earlier, [acknowledged, at]] };
}

/** Removes deltas acknowledged before a time, and a stream that is done and has none left. @returns the number of deltas */
function removeOld(store: SpoolStore, record: StreamRecord, before: number, limit: number): number {
  const old = record.acknowledgements.filter(([, at]) => at < before).at(-1)?.[0] ?? 0;
  const { stream, number, sealed, state } = record;
  const end = Math.min(old + 1, record.first + limit);
  const removed = removeRange(store.deltas, {
    start: pairKey(number, record.first),
    end: pairKey(number, Math.max(record.first, end)),
    limit,
  });
  const first = Math.max(record.first, end);
  if (state === 'done' && first > sealed) {
    store.streams.removeSync(stream);
    return removed;
  }
  if (first === record.first) return removed;
  const acknowledgements = record.acknowledgements.filter(([seq]) => seq >= first);
  store.streams.putSync(stream, { ...record, first, acknowledgements });
  return removed;
}

/**
 * Moves the deltas of a closed stream after `after` to a new stream, which is shipped like any other. Its first delta names all
 * series, because replicas forget the names of a closed stream. The bodies of the others are unchanged: the stream and number in them
 * are not read. Call it in a transaction.
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
    waitingBytes: acknowledged >= after ? 0 : bytesOfDeltas(store, number, acknowledged + 1, after),
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
  const waitingBytes = rest.reduce((sum, { body }) => sum + body.length, names.length);
  for (const [at, delta] of rest.entries()) putDelta(store, taking.number, { ...delta, seq: at + 2 });
  removeRange(store.deltas, {
    start: pairKey(number, rest[0]!.seq),
    end: pairKey(number + 1, 0),
    limit: rest.length,
  });
  store.streams.putSync(taking.stream, {
    ...taking,
    restOf: stream,
    mark: record.mark,
    state: 'open',
    first: 1,
    sealed: rest.length + 1,
    acknowledged: 0,
    waitingBytes,
    acknowledgements: [],
  });
}

/**
 * The id of the stream that continues a closed one. It is derived from that stream's id, so two copies of a directory use the same id
 * for the same deltas, and PostgreSQL accepts them once.
 */
function unusedHeirOf({ streams }: SpoolStore, stream: string): string {
  const heir = createHash('sha256').update(stream).digest('hex').slice(0, 32);
  return streams.doesExist(heir) ? unusedHeirOf({ streams } as SpoolStore, heir) : heir;
}
