import { createHash } from 'node:crypto';
import { pairKey, removeRange } from '../storage/lmdb/key-prefix.ts';
import { transact } from '../storage/lmdb/lmdb.ts';
import { allSeries } from '../storage/lmdb/series.ts';
import type { SpoolStore, StreamRecord, StreamWatermark } from '../storage/lmdb/usage.ts';
import { emptyContent, encodeDelta } from './delta.ts';
import { bytesOfDeltas, nextNumber, putDelta, readDeltas } from './spool.ts';
import { DeltaBuilder, type DeltaRoom, moveRecords, type Stage } from './stages.ts';

/** A step of the spool worker: moves counts to a sealed delta, and records which deltas PostgreSQL has. */
export interface SealTask {
  /**
   * Time and state, read *before* the wait for packets that are being committed (see `Lane.settled`). All packets that
   * were admitted before the watermark are therefore committed when the step begins.
   */
  readonly watermark: StreamWatermark;
  /** The last delta that PostgreSQL has of each of these streams. `at` is the time of confirmation (Unix ms). */
  readonly acknowledged?: readonly { readonly stream: string; readonly seq: number; readonly at: number }[];
  /** Removes some deltas acknowledged before this time (Unix ms). If it is absent, no deltas are removed. */
  readonly removeBefore?: number | undefined;
  /** Closed streams of earlier processes. Their remaining deltas move to other streams. */
  readonly closed?: readonly ClosedStream[];
  /** Streams of earlier processes that PostgreSQL has completely, and has marked as done. */
  readonly finished?: readonly string[];
  /** True to seal nothing, and only store the progress of shipping. */
  readonly onlyNote?: boolean;
}

/** A step as the replica's thread requests it. The main thread adds the version of the accounts. */
export type SealRequest = Omit<SealTask, 'watermark'> & { readonly watermark: Omit<StreamWatermark, 'version'> };

export interface SealResult {
  /** The last delta of the current stream. */
  readonly sealed: number;
  /** All packets admitted before this watermark are in deltas. In a round, it is the watermark of the first step. */
  readonly watermark: StreamWatermark;
  /** True if the round is over. If not, the next step continues the round, and its own watermark is ignored. */
  readonly done: boolean;
  /** True if the store of this node cannot take data, for example because its disk is full. */
  readonly storeFails?: boolean;
}

/** A stream that accepts no more deltas. */
interface ClosedStream {
  readonly stream: string;
  /** Number of the last delta in PostgreSQL, which certainly has no later delta of the stream. */
  readonly after: number;
}

/** Progress of a round, which visits each record of the open delta once, so that new packets do not prolong it. */
interface Round {
  /** Packets admitted before the watermark are in the deltas of this round and of earlier rounds. */
  readonly watermark: StreamWatermark;
  readonly stage: number;
  /** The first key of the stage that is not visited yet. */
  readonly from: Buffer;
}

const beginning = Buffer.alloc(0);

/** Maximum number of deltas in one transaction when a new stream begins and nothing else waits. */
const inheritedDeltas = 64;

interface SealerDeps {
  readonly store: SpoolStore;
  readonly stages: readonly Stage[];
  /** Drops the in-memory state of the open delta after a failed step. */
  forget(): void;
  readonly room: DeltaRoom;
}

/** Moves counts from the open delta, which still grows, to sealed deltas of one stream, which can be shipped. */
export class Sealer {
  readonly #deps: SealerDeps;
  readonly #store: SpoolStore;
  readonly #announced = new Set<number>();
  #record: StreamRecord;
  #round: Round | undefined;

  /** @param record record of the stream, as stored */
  constructor(deps: SealerDeps, record: StreamRecord) {
    this.#deps = deps;
    this.#store = deps.store;
    this.#record = record;
  }

  /** Seals at most one delta. @throws {Error} if the store fails; nothing of the step was kept */
  step(task: SealTask): SealResult {
    return this.#transact(() => {
      noteProgress(this.#store, task);
      // The record is read again, because this step might have stored acknowledgements. The watermark in memory is
      // kept, because the stored watermark belongs to the last delta.
      const { mark, stream } = this.#record;
      const record = { ...this.#store.streams.get(stream)!, mark };
      if (task.onlyNote) return { record, round: this.#round, named: [] };
      return this.#seal(record, this.#round ?? roundAt(task.watermark), 1);
    });
  }

  /** Seals the whole open delta, while nothing is counted. */
  sealAll(): void {
    for (let done = false; !done; ) {
      const from = this.#round ?? roundAt(this.#record.mark);
      done = this.#transact(() => this.#seal(this.#record, from, inheritedDeltas)).done;
    }
  }

  #transact(action: () => SealedRound): SealResult {
    const { record, round, named } = transact(this.#store.lmdb, action, () => this.#deps.forget());
    for (const ref of named) this.#announced.add(ref);
    this.#record = record;
    this.#round = round;
    return { sealed: record.sealed, watermark: record.mark, done: round === undefined };
  }

  /** Moves counts to sealed deltas. Call it in a transaction. @param limit maximum number of deltas */
  #seal(before: StreamRecord, from: Round, limit: number): SealedRound {
    let record = before;
    let round: Round | undefined = from;
    const named = new Set<number>();
    let count = 0;
    while (count < limit && round !== undefined) {
      const isNamed = (ref: number) => this.#announced.has(ref) || named.has(ref);
      const builder = new DeltaBuilder(this.#store, isNamed, this.#deps.room);
      const next = this.#fill(builder, round);
      const watermark: StreamWatermark = next === undefined ? round.watermark : record.mark;
      if (!builder.isEmpty) {
        const bytes = this.#put(builder, record, watermark);
        count += 1;
        const waitingBytes = (record.waitingBytes ?? 0) + bytes;
        record = { ...record, sealed: record.sealed + 1, waitingBytes };
        for (const ref of builder.named) named.add(ref);
      }
      record = { ...record, mark: watermark };
      round = next;
    }
    if (count > 0) this.#store.streams.putSync(record.stream, record);
    return { record, round, named };
  }

  /** Fills a delta. @returns where the round continues; `undefined` if it is over */
  #fill(builder: DeltaBuilder, { watermark, stage, from }: Round): Round | undefined {
    const { stages } = this.#deps;
    for (let number = stage, key = from; number < stages.length; number += 1, key = beginning) {
      const next = moveRecords(stages[number]!, builder, key);
      if (next !== undefined) return { watermark, stage: number, from: next };
    }
    return undefined;
  }

  /** Stores a delta. @param watermark watermark of the stream after this delta @returns the size of the delta */
  #put(builder: DeltaBuilder, record: StreamRecord, watermark: StreamWatermark): number {
    const { stream, number } = record;
    const seq = record.sealed + 1;
    const head = { stream, seq, since: record.mark.applied, version: watermark.version, through: watermark.at };
    const body = encodeDelta({ ...head, ...builder.content });
    putDelta(this.#store, number, { ...head, body });
    return body.length;
  }
}

interface SealedRound {
  readonly record: StreamRecord;
  readonly round: Round | undefined;
  /** Series named in these deltas. */
  readonly named: Iterable<number>;
}

function roundAt(watermark: StreamWatermark): Round {
  return { watermark, stage: 0, from: beginning };
}

/** Maximum number of deltas removed in one step. Packets wait during a step. */
const removedAtOnce = 16;

/** Records which deltas PostgreSQL has, according to a task, and removes expired deltas. Call it in a transaction. */
function noteProgress(store: SpoolStore, task: SealTask): void {
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

/** Stores an acknowledgement. Keeps only the last one of each minute, so deltas stay up to a minute longer. */
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

/**
 * Removes deltas acknowledged before a time. Also removes the stream, if it is done and has no deltas.
 * @returns the number of removed deltas
 */
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
 * Moves the deltas after number `after` of a closed stream to a new stream, which is shipped like all streams. The
 * first delta of the new stream names all series, because replicas forget the names of a closed stream. Bodies of the
 * other deltas stay unchanged, because the stream and number in a body are never read. Call it in a transaction.
 */
export function takeRest(store: SpoolStore, { stream, after }: ClosedStream): void {
  const record = store.streams.get(stream);
  if (record === undefined || record.sealed <= after) return;
  const { number, acknowledged, acknowledgements, first } = record;
  const rest = readDeltas(store, number, Math.max(after + 1, first), Number.MAX_SAFE_INTEGER);
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
  const taking = { number: nextNumber(store), stream: findUnusedHeir(store, stream) };
  const { through, since, version } = next;
  const head = { stream: taking.stream, seq: 1, through, since, version };
  const names = encodeDelta({ ...head, ...emptyContent(), series: [...allSeries(store)] });
  putDelta(store, taking.number, { ...head, body: names });
  const waitingBytes = rest.reduce((sum, { body }) => sum + body.length, names.length);
  for (const [at, delta] of rest.entries()) putDelta(store, taking.number, { ...delta, seq: at + 2 });
  removeRange(store.deltas, { start: pairKey(number, rest[0]!.seq), end: pairKey(number + 1, 0), limit: rest.length });
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
 * Returns the id of the stream that continues a closed stream. It is derived from the id of the closed stream. Two
 * copies of a directory thus use the same id for the same deltas, which PostgreSQL then accepts only once.
 */
function findUnusedHeir({ streams }: SpoolStore, stream: string): string {
  const heir = createHash('sha256').update(stream).digest('hex').slice(0, 32);
  return streams.doesExist(heir) ? findUnusedHeir({ streams } as SpoolStore, heir) : heir;
}
