import { ApiError } from '../../contract/errors.ts';
import { ProtoReader } from '../../grpc/proto-reader.ts';
import { unixMs } from '../../runtime/rfc3339.ts';
import type { ClaimedSender } from '../pipeline.ts';
import { checkHead, type ReportNote, type SentHead } from './report.ts';

/** Shared by the protobuf messages of usage and metrics reports. */

/** The fields of both kinds of report while they arrive, in any order. */
export type HeadDraft = { -readonly [Field in keyof SentHead]: SentHead[Field] | undefined };

/** The head of a message before its first field: an absent text is empty. */
export function newHead(): HeadDraft {
  return {
    appKey: '',
    environment: '',
    time: undefined,
    instanceName: undefined,
    processStartTime: undefined,
  };
}

/** Reads a field that has the same number in both messages; skips any other. */
export function readHeadField(reader: ProtoReader, head: HeadDraft): void {
  switch (reader.field) {
    case 1:
      head.appKey = reader.string();
      break;
    case 2:
      head.environment = reader.name();
      break;
    case 3:
      head.time = readTimestamp(reader);
      break;
    default:
      reader.skip();
  }
}

/** The checked fields of a head. @param notes receives the notes on them @throws {ApiError} of status 400 */
export function finishHead(draft: HeadDraft, notes: Set<ReportNote>): SentHead {
  if (draft.time !== undefined) return checkHead(draft as SentHead, notes);
  throw new ApiError(
    'invalid_time',
    'time is required, with a year from 1 to 9999 and nanos from 0 to 999999999',
  );
}

/**
 * Reads the sender from the beginning of a message, which may be truncated.
 * @param instanceField number of the field `instanceName`
 */
export function peekMessage(beginning: Uint8Array, instanceField: number): ClaimedSender {
  const found: { -readonly [Field in keyof ClaimedSender]: ClaimedSender[Field] } = {};
  const reader = new ProtoReader(beginning);
  try {
    while (reader.next()) {
      if (reader.field === 1) found.appKey = reader.string();
      else if (reader.field === 2) found.environment = reader.string();
      else if (reader.field === instanceField) found.instanceName = reader.string();
      else reader.skip();
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
  return found;
}

/** The years 1 to 9999, the range of a Timestamp by its definition. */
const earliest = -62_135_596_800;
const latest = 253_402_300_799;

/** Unix ms of a `google.protobuf.Timestamp`; `undefined` when it is out of range. */
export function readTimestamp(reader: ProtoReader): number | undefined {
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
 * Reads an entry of a map by variant.
 * @param entry holds the defaults of absent fields, and is filled in and returned
 * @param readValue reads the entry's value, which may be split into several parts
 */
export function readMapEntry<T extends VariantEntry>(
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

/** Keeps the last entry of each variant in a map, whose entries start at `first`. */
export function keepLatest<T extends VariantEntry>(entries: T[], first: number): void {
  if (!hasTwins(entries, first)) return;
  const latest = latestOf(entries, first);
  entries.length = first;
  for (const entry of latest.values()) entries.push(entry);
}

/** Up to this number, comparing the variants is faster than hashing their names. */
const fewVariants = 16;

function hasTwins(entries: readonly VariantEntry[], first: number): boolean {
  const { length } = entries;
  if (length - first > fewVariants) return latestOf(entries, first).size < length - first;
  for (let at = first + 1; at < length; at += 1) {
    const { variant } = entries[at]!;
    for (let before = first; before < at; before += 1) if (entries[before]!.variant === variant) return true;
  }
  return false;
}

function latestOf<T extends VariantEntry>(entries: readonly T[], first: number): Map<string, T> {
  const latest = new Map<string, T>();
  for (let at = first; at < entries.length; at += 1) latest.set(entries[at]!.variant, entries[at]!);
  return latest;
}
