import { createHotTables } from '../storage/aggregate/hot-tables.ts';
import type { Apart, Envelope } from '../storage/commit/envelope.ts';
import type { FoldHandler } from '../storage/commit/fold.ts';
import { eachRecordIn, type RecordRange, type SealedRecords } from '../storage/commit/record-buffer.ts';
import { type BatchMessage, eachExposureIn, messageChanges } from '../storage/commit/records.ts';
import {
  countingSections,
  exposuresSection,
  ledgerSection,
  type Section,
  sendersSection,
  usersSection,
} from '../storage/commit/sections.ts';
import { seriesPerEnvironment } from '../storage/lmdb/blocks.ts';
import { prefixedKey } from '../storage/lmdb/key-prefix.ts';
import { transact } from '../storage/lmdb/lmdb.ts';
import { messageKey } from '../storage/lmdb/messages.ts';
import type { SpoolStore, StreamRecord, StreamWatermark } from '../storage/lmdb/usage.ts';
import {
  type CountedMessage,
  cumulativeRecord,
  messageRecord,
  type PersonExposures,
  totalRecord,
  unresolvedRecord,
} from './delta.ts';
import { Sealer, type SealResult, type SealTask } from './seal.ts';
import { bytesOfDeltas, listStreams, nextNumber } from './spool.ts';
import { createStages, wholeRoom } from './stages.ts';

/** Writes the spool in the spool worker's thread. Each call is one transaction, and returns when it is on disk. */
interface SpoolAggregator extends FoldHandler {
  /** Adds a batch to the open delta. If it throws, nothing of the batch is added. */
  write(envelope: Envelope): void;
  /** Seals a part of the open delta. If it throws, nothing is sealed. */
  seal(task: SealTask): SealResult;
}

/** The stream of this process, and its limits. */
export interface SpoolLimits {
  /** Random id of the stream. */
  readonly stream: string;
  /** State of the node before its first packet. */
  readonly watermark: StreamWatermark;
  /** Maximum number of people per environment with exposures in an open delta. */
  readonly maxIdentities: number;
}

/**
 * Creates the aggregator of a spool. The first call after `replayed` moves the counts of an earlier process to deltas
 * of its stream. If that fails, the call fails, and the next call retries.
 */
export function createSpoolAggregator(
  store: SpoolStore,
  { stream, watermark, maxIdentities }: SpoolLimits,
  room = wholeRoom,
): SpoolAggregator {
  const hot = createHotTables(store, true);
  const ledger = ledgerSection(store);
  const unresolved = new UnresolvedSection(store);
  const sections: readonly Section[] = [
    ...countingSections(store, hot),
    pendingTotals(store),
    usersSection(hot),
    usesSection(store),
    unresolved,
    exposuresSection(store, maxIdentities),
    sendersSection(store),
    ledger,
  ];
  const forget = () => {
    for (const section of sections) section.forget?.();
  };
  const stages = createStages(store, {
    hot,
    forgetLedger: () => ledger.forget?.(),
    resolvedOne: () => unresolved.sealed(),
  });
  let sealer: Sealer | undefined;
  let isReplayed = false;
  const begin = () => {
    const deps = { store, stages, forget, room };
    const last = measuredStreams(store).findLast(({ restOf }) => restOf === undefined);
    if (last !== undefined && last.stream !== stream) new Sealer(deps, last).sealAll();
    return new Sealer(deps, beginStream(store, stream, watermark));
  };
  const add = (envelopes: Iterable<Envelope>, finish = () => {}) => {
    for (const envelope of envelopes) addBatch(store, sections, envelope);
    for (const section of sections) section.put?.();
    finish();
  };
  return {
    groups: ['prompt'],
    forget,
    write(envelope) {
      sealer ??= begin();
      transact(store.lmdb, () => add([envelope]), forget);
    },
    fold(_, envelopes, finish) {
      // Until `replayed` is called, the batches come from the journal of an earlier process, and belong to its stream.
      if (isReplayed) sealer ??= begin();
      transact(store.lmdb, () => add(envelopes, finish), forget);
    },
    replayed() {
      isReplayed = true;
    },
    seal(task) {
      sealer ??= begin();
      return sealer.step(task);
    },
  };
}

/**
 * Adds a batch. Its messages are stored separately, because another machine might have counted them, too. Replicas
 * count only the increase of cumulative messages.
 */
function addBatch(store: SpoolStore, sections: readonly Section[], envelope: Envelope): void {
  const messages = countedMessages(envelope);
  for (const message of messages) {
    store.apart.putSync(messageKey(message.at, message.identity), messageRecord.encode(readMessage(envelope, message)));
  }
  for (const message of envelope.cumulative) {
    let { at } = message;
    while (store.cumulative.doesExist(messageKey(at, message.identity))) at += 1;
    store.cumulative.putSync(messageKey(at, message.identity), cumulativeRecord.encode({ ...message, at }));
  }
  const rest = withoutMessages(envelope, messages);
  for (const section of sections) section.add(rest);
}

/** Lists the streams of a spool. Adds the size of waiting deltas, which records of earlier versions lack. */
function measuredStreams(store: SpoolStore): StreamRecord[] {
  const unmeasured = listStreams(store).filter(({ waitingBytes }) => waitingBytes === undefined);
  if (unmeasured.length > 0)
    transact(store.lmdb, () => {
      for (const record of unmeasured) {
        const { stream, number, acknowledged, sealed } = record;
        const waitingBytes = bytesOfDeltas(store, number, acknowledged + 1, sealed);
        store.streams.putSync(stream, { ...record, waitingBytes });
      }
    });
  return listStreams(store);
}

function beginStream(store: SpoolStore, stream: string, watermark: StreamWatermark): StreamRecord {
  const known = store.streams.get(stream);
  if (known !== undefined) return known;
  const number = nextNumber(store);
  const progress = { sealed: 0, acknowledged: 0, waitingBytes: 0, acknowledgements: [], first: 1 };
  const record: StreamRecord = { number, stream, ...progress, mark: watermark, state: 'open' };
  transact(store.lmdb, () => void store.streams.putSync(stream, record));
  return record;
}

/** Maximum number of unknown instance ids in the open delta, because unauthenticated senders can invent ids. */
export const maxUnresolved = 10_000;

/** Unknown instance ids in order of arrival. Ids above the limit are dropped, like ids that no node has created. */
class UnresolvedSection implements Section {
  readonly #store: SpoolStore;
  #held: number;
  #next: number;

  constructor(store: SpoolStore) {
    this.#store = store;
    const [last] = store.unresolved.getKeys({ reverse: true, limit: 1 });
    this.#next = last === undefined ? 0 : last.readUIntBE(0, keyBytes) + 1;
    this.#held = store.unresolved.getKeysCount();
  }

  add({ unresolved }: Pick<Envelope, 'unresolved'>): void {
    for (const use of unresolved) {
      if (this.#held >= maxUnresolved) return;
      this.#store.unresolved.putSync(numberKey(this.#next), unresolvedRecord.encode(use));
      this.#next += 1;
      this.#held += 1;
    }
  }

  sealed(): void {
    this.#held -= 1;
  }

  forget(): void {
    this.#held = this.#store.unresolved.getKeysCount();
  }
}

const keyBytes = 6;

/** Returns the section of running totals, in order of arrival. */
function pendingTotals({ totals }: SpoolStore): Section {
  return {
    add(envelope) {
      if (envelope.totals.length === 0) return;
      const [last] = totals.getKeys({ reverse: true, limit: 1 });
      let next = last === undefined ? 0 : last.readUIntBE(0, keyBytes) + 1;
      for (const total of envelope.totals) {
        totals.putSync(numberKey(next), totalRecord.encode(total));
        next += 1;
      }
    },
  };
}

function numberKey(number: number): Buffer {
  const key = Buffer.alloc(keyBytes);
  key.writeUIntBE(number, 0, keyBytes);
  return key;
}

function usesSection({ used }: SpoolStore): Section {
  return {
    add({ uses }) {
      for (const { application, digest, hash, expiresAt } of uses) {
        const id = Buffer.concat([digest, hash]);
        const key = prefixedKey(application, id);
        const known = used.get(key)?.readDoubleLE(0) ?? 0;
        const value = Buffer.allocUnsafe(8);
        value.writeDoubleLE(Math.max(known, expiresAt), 0);
        used.putSync(key, value);
      }
    },
  };
}

/** Index of each kind of record in `BatchMessage.from` and `BatchMessage.to`. */
const place = { counts: 0, measurements: 1, users: 2, exposures: 3, unresolved: 4 } as const;
type Kind = keyof typeof place;

/**
 * Returns the messages of a batch. Messages without counts are included, so that a retry on another node finds their
 * identity. Such a message has no counts if an equal message of this batch has them.
 */
function countedMessages(envelope: Envelope): readonly BatchMessage[] {
  if (envelope.messages === undefined) return [];
  return messageChanges(envelope).filter(({ forgotten }) => forgotten !== true);
}

/** Returns the batch without the contents of these messages. */
export function withoutMessages(envelope: Envelope, messages: readonly BatchMessage[]): Envelope {
  if (messages.length === 0) return envelope;
  const ranges = (kind: Kind) => messages.map((message) => getRange(message, kind));
  const apart: Apart = {
    counts: ranges('counts'),
    measurements: ranges('measurements'),
    users: ranges('users'),
    exposures: ranges('exposures'),
  };
  const taken = ranges('unresolved');
  const isTaken = (_: unknown, at: number) => taken.some(([from, to]) => from <= at && at < to);
  const unresolved = envelope.unresolved.filter((use, at) => !isTaken(use, at));
  return { ...envelope, apart, unresolved };
}

export function readMessage(envelope: Envelope, message: BatchMessage): CountedMessage {
  const rows = (kind: Kind & keyof Envelope, width: number) => {
    const found: number[] = [];
    eachRecordIn(
      envelope[kind] as SealedRecords | undefined,
      envelope.batch,
      getRange(message, kind),
      (...row) => void found.push(...row.slice(0, width)),
    );
    return found;
  };
  return {
    identity: message.identity,
    at: Math.max(0, Math.floor(message.at)),
    counts: rows('counts', 5),
    measurements: rows('measurements', 4),
    users: rows('users', 4),
    exposures: readExposures(envelope, getRange(message, 'exposures')),
    unresolved: envelope.unresolved.slice(...getRange(message, 'unresolved')),
  };
}

function readExposures(envelope: Envelope, range: RecordRange): PersonExposures[] {
  const people: (PersonExposures & { readonly rows: number[] })[] = [];
  let digest: Buffer;
  eachExposureIn(envelope, range, {
    person: (next) => {
      digest = next;
    },
    exposure(ref, seconds, checks, used, viewed) {
      const environment = Math.floor(ref / seriesPerEnvironment);
      let person = people.at(-1);
      if (person?.digest !== digest || person.environment !== environment) {
        person = { environment, digest, rows: [] };
        people.push(person);
      }
      person.rows.push(ref % seriesPerEnvironment, seconds, seconds, checks, used, viewed);
    },
  });
  return people;
}

function getRange({ from, to }: BatchMessage, kind: Kind): RecordRange {
  return [from[place[kind]], to[place[kind]]];
}
