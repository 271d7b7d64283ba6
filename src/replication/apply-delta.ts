import type { HotLedger } from '../storage/aggregate/hot-ledger.ts';
import { addUser, type HotTables } from '../storage/aggregate/hot-tables.ts';
import { addExposure, addValue, mergeMeasurement, openExposures } from '../storage/aggregate/merge.ts';
import { createMeasurement } from '../storage/commit/records.ts';
import { decodeMinute, minutesPerDay, seriesPerEnvironment, seriesRef } from '../storage/lmdb/blocks.ts';
import {
  type CumulativeMessage,
  type CumulativeTotals,
  eachAdded,
  noteLine,
  readApplication,
  rowWidth,
} from '../storage/lmdb/cumulative.ts';
import { exposuresKey, putExposures } from '../storage/lmdb/exposures.ts';
import { putHashedUse, resolveInstance } from '../storage/lmdb/instances.ts';
import { permanentAt } from '../storage/lmdb/messages.ts';
import { putSpans, type SenderSpan } from '../storage/lmdb/senders.ts';
import { environmentOrdinal, readChunk } from '../storage/lmdb/sketches.ts';
import { recordTotal } from '../storage/lmdb/totals.ts';
import type { ReplicaStore } from '../storage/lmdb/usage.ts';
import type { CountedMessage, Delta, PersonExposures, UnresolvedInstance } from './delta.ts';
import type { Refuse } from './delta-columns.ts';
import type { ChangedDays, CountedMessages, ErasedNumbers, ForgottenPeople } from './replica-state.ts';
import { erasedSeries, type StreamSeries, unknownSeries } from './stream-series.ts';

/** The parts of a replica that deltas change. */
export interface DeltaTarget {
  readonly store: ReplicaStore;
  readonly hot: HotTables;
  readonly ledger: HotLedger;
  readonly series: StreamSeries;
  readonly messages: CountedMessages;
  readonly totals: CumulativeTotals;
  readonly forgotten: ForgottenPeople;
  readonly erased: ErasedNumbers;
  readonly days: ChangedDays;
}

interface DeltaContext extends DeltaTarget {
  readonly refuse: Refuse;
  /** Maximum number of people per environment whose exposures are kept. */
  readonly people: number;
  /** Position in the log that the sending node had applied when it began the delta. */
  readonly since: number;
}

/**
 * Adds a delta (what a stream has counted since its previous delta) to the replica, row by row. Call it in a
 * transaction, with the delta's stream selected in `series`. The caller then writes the rows from memory (`hot`) to the
 * tables.
 * @param people maximum number of people per environment whose exposures are kept
 */
export function applyDelta(target: DeltaTarget, delta: Delta, people: number, refuse: Refuse): void {
  const { series, messages, ledger, erased, store } = target;
  for (const each of delta.series) {
    if (!series.add(each)) refuse('series', 'there can be no series of this name', each);
  }
  const applying: DeltaContext = { ...target, people, since: delta.since, refuse };
  applyCells(applying, delta);
  for (const message of delta.messages) if (messages.add(message)) applyMessage(applying, message);
  for (const message of delta.cumulative) applyCumulative(applying, message);
  applyTotals(applying, delta);
  for (const use of delta.uses) putHashedUse(store, use);
  if (!applyPeople(applying, delta) && delta.exposures.length + delta.unresolved.length > 0)
    refuse('exposures', 'people forgotten since it began are no longer listed', delta.since);
  applySenders(applying, delta);
  ledger.add(delta.ledger.filter(({ application }) => !erased.hasApplication(application)));
}

/** Maps the stream's number of a series to the replica's. Refuses unknown series, and skips deleted environments. */
function ownRef({ series, refuse }: DeltaContext, ref: number, place: string, row: unknown): number | undefined {
  const own = series.of(ref);
  if (own >= 0) return own;
  if (own === unknownSeries) refuse(place, 'its stream has not named this series', row);
  return undefined;
}

/**
 * Visits the rows of a flat list of numbers. The first column of a row is the ref (number) of a series.
 * @param environment environment of the series, if the first column has ordinals (numbers within an environment)
 */
function eachRow(
  applying: DeltaContext,
  place: string,
  flat: readonly number[],
  width: number,
  visit: (...row: number[]) => void,
  environment = 0,
): void {
  for (let at = 0; at < flat.length; at += width) {
    const row = flat.slice(at, at + width);
    const ref = ownRef(applying, seriesRef(environment, row[0]!), place, row);
    if (ref !== undefined) visit(ref, ...row.slice(1));
  }
}

/** Applies the rows of series. `seen` comes first, because it determines when a series was first seen. */
function applyCells(applying: DeltaContext, { seen, counts, measurements, sketches }: Delta): void {
  const { hot, days } = applying;
  eachRow(applying, 'seen', seen, 3, (ref, first, last) => {
    hot.seen.record(ref, first);
    hot.seen.record(ref, last);
  });
  applyCounts(applying, counts);
  eachRow(applying, 'measurements', measurements, 8, (ref, bucket, sum, count, last, lastAt, min, max) => {
    mergeMeasurement(hot.measurements.touch(ref, bucket), { sum, count, last, lastAt, min, max });
  });
  for (const { ref: theirs, day, chunk, value } of sketches) {
    const ref = ownRef(applying, theirs, 'sketches', [theirs, day, chunk]);
    if (ref === undefined) continue;
    hot.sketches.merge(ref, day, chunk, readChunk(Buffer.from(value.buffer, value.byteOffset, value.length)));
    days.addDay(ref, day);
    hot.counts.noteUser(ref, day * minutesPerDay);
  }
}

/** Applies counts, the largest part of a delta, without allocating an object for each row. */
function applyCounts(applying: DeltaContext, counts: readonly number[]): void {
  const { hot, series, days } = applying;
  for (let at = 0; at < counts.length; at += 5) {
    const ref = series.of(counts[at]!);
    if (ref >= 0) {
      hot.counts.add(ref, counts[at + 1]!, counts[at + 2]!, counts[at + 3]!, counts[at + 4]!);
      days.add(ref, counts[at + 1]!);
    } else if (ref !== erasedSeries) ownRef(applying, counts[at]!, 'counts', counts.slice(at, at + 5));
  }
}

/** Applies the increase of a cumulative message over earlier messages of any node. */
function applyCumulative(applying: DeltaContext, message: CumulativeMessage): void {
  const { hot, days, totals, erased, ledger } = applying;
  if (erased.hasApplication(readApplication(message.identity))) return;
  const { bucket, measuredAt } = message;
  const own: number[] = [];
  eachRow(applying, 'cumulative', message.rows, rowWidth, (...row) => void own.push(...row));
  const { rows, note } = totals.add({ ...message, rows: own });
  eachAdded(rows, {
    count(ref, checks) {
      hot.counts.add(ref, bucket, checks, 0, 0);
      days.add(ref, bucket);
    },
    measurement: (ref, value) => addValue(hot.measurements.touch(ref, bucket), value, measuredAt),
  });
  if (note !== undefined && message.subject !== '') ledger.add([noteLine(message, note)]);
}

/** Applies running totals. Only the increase of a total counts, even if several nodes received the total. */
function applyTotals(applying: DeltaContext, { totals }: Delta): void {
  const { store, hot, days, erased } = applying;
  for (const total of totals) {
    if (erased.hasApplication(total.application)) continue;
    const ref = ownRef(applying, total.ref, 'totals', [total.ref, total.bucket, total.value]);
    if (ref === undefined) continue;
    const increase = recordTotal(store, total);
    if (increase === 0) continue;
    hot.counts.add(ref, total.bucket, increase, 0, 0);
    days.add(ref, total.bucket);
  }
}

/** Merges the content of a counted message, in the same way as counts outside messages. */
function applyMessage(applying: DeltaContext, message: CountedMessage): void {
  const { hot, days } = applying;
  applyCounts(applying, message.counts);
  if (message.at === permanentAt) applyImported(applying, message);
  else {
    eachRow(applying, 'messages', message.measurements, 4, (ref, bucket, value, at) => {
      addValue(hot.measurements.touch(ref, bucket), value, at);
    });
  }
  eachRow(applying, 'messages', message.users, 4, (ref, minute, high, low) => {
    addUser(hot, ref, minute, high, low);
    days.addDay(ref, Math.floor(minute / minutesPerDay));
  });
  applyPeople(applying, message);
}

/** Merges imported counts, which can be old. Imported measurements are summaries of values (see `addSummary`). */
function applyImported(applying: DeltaContext, { counts, measurements }: CountedMessage): void {
  const { hot, series } = applying;
  for (let at = 0; at < counts.length; at += 5) {
    const ref = series.of(counts[at]!);
    if (ref >= 0) hot.seen.recordEarlier(ref, decodeMinute(counts[at + 1]!));
  }
  eachRow(applying, 'messages', measurements, 12, (ref, bucket, ...rows) => {
    const summary = rows.filter((_, at) => at % 4 < 2);
    mergeMeasurement(hot.measurements.touch(ref!, bucket!), createMeasurement(summary));
  });
}

/**
 * Applies the rows of people, except rows of people who were forgotten since the delta began.
 * @returns false if the list of forgotten people does not reach back to the beginning of the delta
 */
function applyPeople(
  applying: DeltaContext,
  { exposures, unresolved }: Pick<Delta, 'exposures' | 'unresolved'>,
): boolean {
  const { forgotten, since } = applying;
  if (!forgotten.knows(since)) return false;
  for (const each of exposures) if (!forgotten.has(each.digest, since)) applyExposures(applying, each);
  for (const each of unresolved) if (!forgotten.has(each.digest, since)) applyUnresolved(applying, each);
  return true;
}

function applyExposures(applying: DeltaContext, { environment, digest, rows }: PersonExposures): void {
  const first = rows.reduce(
    (least, each, at) => (at % 6 === 1 ? Math.min(least, each) : least),
    Number.POSITIVE_INFINITY,
  );
  const own: number[][] = [];
  eachRow(applying, 'exposures', rows, 6, (...row) => void own.push(row), environment);
  addToPerson(applying, exposuresKey(environment, digest), first, own);
}

/** Applies uses of an instance id unknown to the sending node. Skips uses at times when the id was not valid. */
function applyUnresolved(applying: DeltaContext, unresolved: UnresolvedInstance): void {
  const { environment, digest, seconds, rows } = unresolved;
  const { store, hot } = applying;
  const user = resolveInstance(store, unresolved, seconds * 1000);
  if (user === undefined) return;
  const own: number[][] = [];
  eachRow(applying, 'unresolved', rows, 5, (ref, minute, checks, used, viewed) => {
    addUser(hot, ref, minute, user.high, user.low);
    if (ref % seriesPerEnvironment !== environmentOrdinal) own.push([ref, seconds, seconds, checks, used, viewed]);
  });
  addToPerson(applying, exposuresKey(environment, digest), seconds, own);
}

/**
 * Adds rows to a person's exposures, unless the environment is full.
 * @param listed time when a new person was first seen, Unix seconds
 * @param rows `ref, first seconds, last seconds, checks, used, viewed`
 */
function addToPerson({ store, people }: DeltaContext, key: Buffer, listed: number, rows: number[][]): void {
  const exposures = rows.length === 0 ? undefined : openExposures(store, key, listed, people);
  if (exposures === undefined) return;
  for (const [ref, ...row] of rows as [number, number, number, number, number, number][])
    addExposure(exposures, ref % seriesPerEnvironment, ...row);
  putExposures(store, key, exposures);
}

function applySenders(applying: DeltaContext, { senders }: Delta): void {
  const spans: SenderSpan[] = [];
  for (const { environment, ordinal, first, last, ...sender } of senders) {
    const row = [environment, ordinal, first, last];
    const ref = ownRef(applying, seriesRef(environment, ordinal), 'senders', row);
    if (ref === undefined) continue;
    const own = applying.series.ordinalOfFeature(ref);
    spans.push({ environment: Math.floor(ref / seriesPerEnvironment), ordinal: own, sender, first, last });
  }
  putSpans(applying.store, spans);
}
