import { Refusal } from '../../../contract/errors.ts';
import { ProtoReader } from '../../../grpc/protobuf.ts';
import { unixMs } from '../../../runtime/rfc3339.ts';
import { addNote } from '../../omissions.ts';
import type { ClaimedSender } from '../../pipeline.ts';
import {
  addValues,
  checkHead,
  endEntry,
  endReport,
  endUsage,
  type MergeMode,
  type MetricEntry,
  type MetricsBuilder,
  type MetricsReport,
  mergeUsers,
  newMetrics,
  newUsage,
  type ReportNotes,
  type SentHead,
  type UsageBuilder,
  type UsageReport,
  type VariantBuilder,
  type VariantValue,
} from './report.ts';

/** Head fields of a usage or metrics report, collected while they arrive in any order. */
type HeadBuilder = { -readonly [Field in keyof SentHead]: SentHead[Field] | undefined };

function newHead(): HeadBuilder {
  return { appKey: '', environment: '', time: undefined, instanceName: undefined, processStartTime: undefined };
}

/** Reads a field that has the same number in usage and metrics reports. Skips any other field. */
function readHeadField(reader: ProtoReader, head: HeadBuilder): void {
  const { field } = reader;
  if (field === 1) head.appKey = reader.string();
  else if (field === 2) head.environment = reader.name();
  else if (field === 3) head.time = readTimestamp(reader);
  else reader.skip();
}

function finishHead(builder: HeadBuilder, notes: ReportNotes): SentHead {
  if (builder.time !== undefined) return checkHead(builder as SentHead, notes);
  throw new Refusal('invalid_time', 'time is required, with a year from 1 to 9999 and nanos from 0 to 999999999');
}

/**
 * Reads the sender from the beginning of a message, which can be truncated.
 * @param instanceField number of the field `instanceName`
 */
export function peekMessage(beginning: Uint8Array, instanceField: number): ClaimedSender {
  const found: { -readonly [Field in keyof ClaimedSender]: ClaimedSender[Field] } = {};
  const reader = new ProtoReader(beginning);
  try {
    while (reader.next()) {
      if (reader.field === 1) found.appKey = reader.string();
      else if (reader.field === 2) found.environment = reader.name();
      else if (reader.field === instanceField) found.instanceName = reader.name();
      else reader.skip();
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
  return found;
}

/** First and last second of the years 1 to 9999, the defined range of a Timestamp. */
const earliest = -62_135_596_800;
const latest = 253_402_300_799;

/** Reads a `google.protobuf.Timestamp` in Unix ms; `undefined` if it is out of range. */
function readTimestamp(reader: ProtoReader): number | undefined {
  const outer = reader.enter();
  let seconds = 0;
  let nanos = 0;
  while (reader.next()) {
    if (reader.field === 1) seconds = reader.int64();
    else if (reader.field === 2) nanos = reader.int32();
    else reader.skip();
  }
  reader.leave(outer);
  const isInRange = seconds >= earliest && seconds <= latest && nanos >= 0 && nanos <= 999_999_999;
  return isInRange ? unixMs(seconds, nanos) : undefined;
}

interface VariantEntry {
  variant: string;
}

/**
 * Reads an entry of a map whose keys are variants.
 * @param entry holds the defaults of absent fields, and is filled in and returned
 * @param readValue reads the entry's value, which can be split into several chunks
 */
function readMapEntry<T extends VariantEntry>(
  reader: ProtoReader,
  entry: T,
  readValue: (reader: ProtoReader, entry: T) => void,
): T {
  const outer = reader.enter();
  while (reader.next()) {
    if (reader.field === 1) entry.variant = reader.name();
    else if (reader.field === 2) readValue(reader, entry);
    else reader.skip();
  }
  reader.leave(outer);
  return entry;
}

/** Keeps only the last entry of each variant. The entries of the map start at `first`. */
function keepLatest<T extends VariantEntry>(entries: T[], first: number): void {
  if (!hasTwins(entries, first)) return;
  const latest = findLatest(entries, first);
  entries.length = first;
  for (const entry of latest.values()) entries.push(entry);
}

/** Maximum number of variants for which comparing the names is faster than hashing them. */
const fewVariants = 16;

function hasTwins(entries: readonly VariantEntry[], first: number): boolean {
  const { length } = entries;
  if (length - first > fewVariants) return findLatest(entries, first).size < length - first;
  for (let at = first + 1; at < length; at += 1) {
    const { variant } = entries[at]!;
    for (let before = first; before < at; before += 1) if (entries[before]!.variant === variant) return true;
  }
  return false;
}

function findLatest<T extends VariantEntry>(entries: readonly T[], first: number): Map<string, T> {
  const latest = new Map<string, T>();
  for (let at = first; at < entries.length; at += 1) latest.set(entries[at]!.variant, entries[at]!);
  return latest;
}

/** Ignored fields of a report: `totalUniqueUsers`, `definitionCacheHits` and `definitionCacheMisses`. */
const unreadOfReport = [5, 10, 11];
/** Ignored `unique…Count` fields of an entry: context identifiers, requests and users. */
const unreadOfEntry = [4, 5, 6, 7, 9];
const uniqueUserHashes = 10;
const uniqueViewedUserHashes = 12;
const requestCount = 2;

/** Decodes a `Usage.FeatureStat` (`proto/usage.proto`). @throws {Refusal} of status 400 with the error */
export function decodeUsageReport(message: Uint8Array): UsageReport {
  const head = newHead();
  const notes: ReportNotes = new Map();
  const builder = newUsage(notes);
  const hashes: number[] = [];
  let appVersion: string | undefined;
  const reader = new ProtoReader(message);
  while (reader.next()) {
    const { field } = reader;
    if (field === 4) {
      builder.statCount += 1;
      readStat(reader, builder);
    } else if (field === 6) head.instanceName = reader.name();
    else if (field === 7) {
      head.processStartTime = readTimestamp(reader);
      if (head.processStartTime === undefined) addNote(notes, 'value_dropped', 'processStartTime');
    } else if (field === 8) appVersion = reader.name();
    else if (field === 9) reader.int32s(hashes);
    else if (unreadOfReport.includes(field)) reader.int32();
    else readHeadField(reader, head);
  }
  const rest = { appVersion, environmentHashes: formatHashes(hashes) };
  return endUsage(finishHead(head, notes), builder, rest);
}

function readStat(reader: ProtoReader, builder: UsageBuilder): void {
  const outer = reader.enter();
  const entry = { feature: '', enabledCount: 0, disabledCount: 0, usedCount: 0 };
  const { variants } = builder;
  const first = variants.length;
  let hashes: number[] | undefined;
  while (reader.next()) {
    const { field } = reader;
    if (field === 1) entry.feature = reader.name();
    else if (field === 2) entry.enabledCount = reader.count();
    else if (field === 3) entry.disabledCount = reader.count();
    else if (field === 8) entry.usedCount = reader.count();
    else if (field === uniqueUserHashes || field === uniqueViewedUserHashes) {
      hashes ??= [];
      reader.int32s(hashes);
    } else if (field === 11) variants.push(readMapEntry(reader, newVariant(), readVariantStats));
    else if (unreadOfEntry.includes(field)) reader.int32();
    else reader.skip();
  }
  reader.leave(outer);
  keepLatest(variants, first);
  endEntry(builder, first, entry);
  if (hashes === undefined) return;
  builder.users.push(...mergeUsers(entry.feature, formatHashes(hashes), []));
}

const noTexts: readonly string[] = [];

function formatHashes(hashes: readonly number[]): readonly string[] {
  if (hashes.length === 0) return noTexts;
  return Array.from(new Set(hashes), String);
}

function newVariant(): VariantBuilder {
  return { feature: '', variant: '', checks: 0, used: 0, viewed: 0 };
}

/** Reads a `Usage.VariantStats`. */
function readVariantStats(reader: ProtoReader, builder: VariantBuilder): void {
  const outer = reader.enter();
  while (reader.next()) {
    const { field } = reader;
    if (field === 1) builder.checks = reader.count();
    else if (field === 3) builder.used = reader.count();
    else if (field === 4) builder.viewed = reader.count();
    else if (field === requestCount) reader.int32();
    else reader.skip();
  }
  reader.leave(outer);
}

/** Decodes a `Metrics.MetricStat` (`proto/metrics.proto`). @throws {Refusal} of status 400 with the error */
export function decodeMetricsReport(message: Uint8Array): MetricsReport {
  const head = newHead();
  const notes: ReportNotes = new Map();
  const builder = newMetrics(notes);
  let statCount = 0;
  const reader = new ProtoReader(message);
  while (reader.next()) {
    const { field } = reader;
    if (field === 4) {
      statCount += 1;
      readEntry(reader, 'sum', builder);
    } else if (field === 5) readEntry(reader, 'sum', builder);
    else if (field === 6) readEntry(reader, 'last', builder);
    else if (field === 7) head.instanceName = reader.name();
    else readHeadField(reader, head);
  }
  return endReport(finishHead(head, notes), statCount, builder);
}

type EntryBuilder = { -readonly [Field in keyof MetricEntry]: MetricEntry[Field] };

const noVariants: readonly VariantValue[] = [];

/**
 * Adds an entry. Messages `Metrics.MetricStatMessage` and `Metrics.MetricCounterMessage` are summed. Of several
 * `Metrics.MetricObservationMessage`, the last is kept. An observation starts with its time, which shifts the numbers
 * of the other fields by one. Protobuf omits a value of zero, so an observation without a value counts as zero. A
 * counter without a value would not change the sum.
 */
function readEntry(reader: ProtoReader, merging: MergeMode, builder: MetricsBuilder): void {
  const outer = reader.enter();
  const shift = merging === 'last' ? 1 : 0;
  const entry: EntryBuilder = { metric: '', value: merging === 'last' ? 0 : undefined };
  let variants: VariantValue[] | undefined;
  let time: number | undefined;
  while (reader.next()) {
    const field = reader.field - shift;
    if (field === 0) {
      time = readTimestamp(reader);
      if (time === undefined) addNote(builder.notes, 'value_dropped', 'observations', 'time');
    } // Only the fields of an observation, shifted by one, include a 0.
    else if (field === 1) entry.metric = reader.name();
    else if (field === 2) entry.enabledCount = reader.count();
    else if (field === 3) entry.disabledCount = reader.count();
    else if (field === 4) entry.feature = reader.name();
    else if (field === 5) entry.value = reader.double();
    else if (field === 6) entry.valueDisabled = reader.double();
    else if (field === 7) {
      variants ??= [];
      variants.push(readMapEntry(reader, { variant: '', value: 0 }, readDouble));
    } else reader.skip();
  }
  reader.leave(outer);
  if (variants !== undefined) keepLatest(variants, 0);
  addValues(builder, entry, variants ?? noVariants, merging, time);
}

function readDouble(reader: ProtoReader, entry: { value: number }): void {
  entry.value = reader.double();
}
