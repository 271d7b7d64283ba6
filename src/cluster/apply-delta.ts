import { addUser } from '../aggregate/add-user.ts';
import type { HotLedger } from '../aggregate/hot-ledger.ts';
import type { HotTables } from '../aggregate/hot-tables.ts';
import { addValue, mergeMeasurement } from '../aggregate/merge.ts';
import { seriesPerEnvironment, seriesRef } from '../store/blocks.ts';
import { putHashedUse } from '../store/instances.ts';
import type { ReplicaStore } from '../store/replica-store.ts';
import { putSpans, type SenderSpan } from '../store/senders.ts';
import { readChunk } from '../store/sketches.ts';
import { applyExposures, applyUnresolved, type PeopleParts } from './apply-people.ts';
import type { ChangedDays } from './changed-days.ts';
import type { CountedMessages } from './counted-messages.ts';
import type { CountedMessage, Delta } from './delta.ts';
import type { Erased } from './erased.ts';
import type { ForgottenPeople } from './forgotten.ts';
import { erasedSeries, type StreamSeries, unknownSeries } from './stream-series.ts';

/** What a replica applies deltas with. */
export interface DeltaParts {
  readonly store: ReplicaStore;
  readonly hot: HotTables;
  readonly ledger: HotLedger;
  readonly series: StreamSeries;
  readonly messages: CountedMessages;
  readonly forgotten: ForgottenPeople;
  readonly erased: Erased;
  readonly days: ChangedDays;
}

/** Is told of each row that cannot be applied. */
export type Refuse = (place: string, reason: string, row: unknown) => void;

const minutesPerDay = 1440;

/**
 * Adds a delta to the replica, row by row. `series` is turned to its stream. Call it in a transaction; what is in `hot` is put
 * by the caller.
 * @param people most people of an environment whose exposures are kept
 */
export function applyDelta(parts: DeltaParts, delta: Delta, people: number, refuse: Refuse): void {
  const { series, messages } = parts;
  for (const each of delta.series) {
    if (!series.add(each)) refuse('series', 'there can be no series of this name', each);
  }
  const own = ownRefs(series, refuse);
  const applied: DeltaPeople = { ...parts, own, limit: people, since: delta.since };
  applyCells(applied, delta);
  for (const message of delta.messages) if (messages.add(message)) applyMessage(applied, message);
  applyPeople(applied, delta, refuse);
  applySenders(parts, own, delta);
  parts.ledger.add(delta.ledger.filter(({ application }) => !parts.erased.hasApplication(application)));
}

type DeltaPeople = DeltaParts & PeopleParts;
type OwnRef = PeopleParts['own'];

/** Finds refs, and has rows of unknown ones refused. What was deleted is left out without a word. */
function ownRefs(series: StreamSeries, refuse: Refuse): OwnRef {
  return (ref, place, row) => {
    const own = series.of(ref);
    if (own >= 0) return own;
    if (own === unknownSeries) refuse(place, 'its stream has not named this series', row);
    return undefined;
  };
}

/** The cells of a delta. What was seen comes first: it says when a series was seen first. */
function applyCells(parts: DeltaPeople, { seen, counts, measurements, sketches }: Delta): void {
  const { hot, own } = parts;
  for (let at = 0; at < seen.length; at += 3) {
    const ref = own(seen[at]!, 'seen', seen.slice(at, at + 3));
    if (ref === undefined) continue;
    hot.seen.mark(ref, seen[at + 1]!);
    hot.seen.mark(ref, seen[at + 2]!);
  }
  applyCounts(parts, counts);
  for (let at = 0; at < measurements.length; at += 8) {
    const row = measurements.slice(at, at + 8);
    const ref = own(row[0]!, 'measurements', row);
    if (ref === undefined) continue;
    const [, bucket, sum, count, last, lastAt, min, max] = row as Eight;
    mergeMeasurement(hot.measurements.touch(ref, bucket), { sum, count, last, lastAt, min, max });
  }
  for (const { ref: theirs, day, chunk, value } of sketches) {
    const ref = own(theirs, 'sketches', [theirs, day, chunk]);
    if (ref === undefined) continue;
    hot.sketches.merge(ref, day, chunk, readChunk(bufferOf(value)));
    parts.days.addDay(ref, day);
    hot.counts.noteUser(ref, day * minutesPerDay);
  }
}

type Eight = [number, number, number, number, number, number, number, number];

/** Counts are most of a delta, so nothing is made for each. */
function applyCounts({ hot, own, series, days }: DeltaPeople, counts: readonly number[]): void {
  for (let at = 0; at < counts.length; at += 5) {
    const ref = series.of(counts[at]!);
    if (ref >= 0) {
      hot.counts.add(ref, counts[at + 1]!, counts[at + 2]!, counts[at + 3]!, counts[at + 4]!);
      days.add(ref, counts[at + 1]!);
    } else if (ref !== erasedSeries) own(counts[at]!, 'counts', counts.slice(at, at + 5));
  }
}

/** A message that counts: what it brought is merged as if it had come without an identity. */
function applyMessage(parts: DeltaPeople, message: CountedMessage): void {
  const { hot, own } = parts;
  const { measurements, users } = message;
  applyCounts(parts, message.counts);
  for (let at = 0; at < measurements.length; at += 4) {
    const row = measurements.slice(at, at + 4);
    const ref = own(row[0]!, 'messages', row);
    if (ref !== undefined) addValue(hot.measurements.touch(ref, row[1]!), row[2]!, row[3]!);
  }
  for (let at = 0; at < users.length; at += 4) {
    const row = users.slice(at, at + 4);
    const ref = own(row[0]!, 'messages', row);
    if (ref === undefined) continue;
    addUser(hot, ref, row[1]!, row[2]!, row[3]!);
    parts.days.addDay(ref, Math.floor(row[1]! / minutesPerDay));
  }
  if (!parts.forgotten.knows(parts.since)) return;
  for (const each of message.exposures) applyExposures(parts, each);
  for (const each of message.unresolved) applyUnresolved(parts, each);
}

/** What a delta says of people. One that is older than what is remembered of forgotten people can say nothing. */
function applyPeople(parts: DeltaPeople, delta: Delta, refuse: Refuse): void {
  for (const use of delta.uses) putHashedUse(parts.store, use);
  const { exposures, unresolved } = delta;
  if (parts.forgotten.knows(delta.since)) {
    for (const each of exposures) applyExposures(parts, each);
    for (const each of unresolved) applyUnresolved(parts, each);
  } else if (exposures.length + unresolved.length > 0) {
    refuse('exposures', 'who was forgotten since it was begun is not remembered any more', delta.since);
  }
}

function applySenders({ store, series }: DeltaParts, own: OwnRef, { senders }: Delta): void {
  const spans: SenderSpan[] = [];
  for (const { environment, ordinal, first, last, ...sender } of senders) {
    const ref = own(seriesRef(environment, ordinal), 'senders', [environment, ordinal, first, last]);
    if (ref === undefined) continue;
    const known = series.ordinalOfFeature(ref);
    spans.push({ environment: Math.floor(ref / seriesPerEnvironment), ordinal: known, sender, first, last });
  }
  putSpans(store, spans);
}

function bufferOf(value: Uint8Array): Buffer {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
