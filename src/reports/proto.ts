import { ApiError } from '../errors.ts';
import type { ClaimedSender } from '../ingest/pipeline.ts';
import { unixMs } from '../rfc3339.ts';
import { checkHead, type SentHead } from './head.ts';
import { ProtoReader } from './proto-reader.ts';
import type { ReportHead } from './report.ts';

/** What the protobuf messages of usage and of metrics reports have in common. */

/** The fields of both kinds of report while they come in, in any order. */
export type HeadDraft = { -readonly [Field in keyof SentHead]: SentHead[Field] | undefined };

/** The head of a message of which nothing has been read yet: an absent text is an empty one. */
export function newHead(): HeadDraft {
  return {
    appKey: '',
    environment: '',
    time: undefined,
    instanceName: undefined,
    processStartTime: undefined,
  };
}

/** The fields of a head, checked. @throws {ApiError} of status 400 */
export function finishHead(draft: HeadDraft): ReportHead {
  if (draft.time === undefined) throw new ApiError('invalid_time', 'time is missing');
  return checkHead(draft as SentHead);
}

/**
 * Reads the sender from the beginning of a message, as far as it can be read.
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

/** The years 1 to 9999, in which a Timestamp lies (its own definition says so). */
const earliest = -62_135_596_800;
const latest = 253_402_300_799;

/** Unix ms of a `google.protobuf.Timestamp`. @throws {ApiError} `invalid_time` */
export function readTimestamp(reader: ProtoReader): number {
  const outer = reader.enter();
  let seconds = 0;
  let nanos = 0;
  while (reader.next()) {
    if (reader.field === 1) seconds = reader.int64();
    else if (reader.field === 2) nanos = reader.int32();
    else reader.skip();
  }
  reader.leave(outer);
  if (seconds < earliest || seconds > latest || nanos < 0 || nanos > 999_999_999) {
    throw new ApiError(
      'invalid_time',
      'A time must be in the years 1 to 9999, its nanos from 0 to 999999999',
    );
  }
  return unixMs(seconds, nanos);
}

/** Adds one entry of a `map<string, …>`; of two with the same key the later one stays. */
export function readMapEntry<T>(
  reader: ProtoReader,
  entries: Map<string, T>,
  absent: T,
  readValue: (reader: ProtoReader) => T,
): void {
  const outer = reader.enter();
  let key = '';
  let value = absent;
  while (reader.next()) {
    if (reader.field === 1) key = reader.name();
    else if (reader.field === 2) value = readValue(reader);
    else reader.skip();
  }
  reader.leave(outer);
  entries.set(key, value);
}
