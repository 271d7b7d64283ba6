import {
  addValues,
  endReport,
  type MetricDrafts,
  type MetricEntry,
  newDrafts,
  type VariantValues,
} from './entries.ts';
import { finishHead, newHead, readMapEntry, readTimestamp } from './proto.ts';
import { ProtoReader } from './proto-reader.ts';
import type { MetricsReport } from './report.ts';

/**
 * Decodes a `Metrics.MetricStat` (`proto/metrics.proto`).
 * @throws {ApiError} of status 400, saying what is wrong with it
 */
export function decodeMetricsReport(message: Uint8Array): MetricsReport {
  const head = newHead();
  const drafts = newDrafts();
  let statCount = 0;
  const reader = new ProtoReader(message);
  while (reader.next()) {
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
      case 4:
        statCount += 1;
        readCounter(reader, drafts);
        break;
      case 5:
        readCounter(reader, drafts);
        break;
      case 6:
        readObservation(reader, drafts);
        break;
      case 7:
        head.instanceName = reader.string();
        break;
      default:
        reader.skip();
    }
  }
  return endReport(finishHead(head), statCount, drafts);
}

/** A `Metrics.MetricStatMessage` or `Metrics.MetricCounterMessage`. */
function readCounter(reader: ProtoReader, drafts: MetricDrafts): void {
  readEntry(reader, 0, drafts);
}

/** A `Metrics.MetricObservationMessage`: its time comes first, and the other fields are one number further on. */
function readObservation(reader: ProtoReader, drafts: MetricDrafts): void {
  readEntry(reader, 1, drafts);
}

type EntryDraft = { -readonly [Field in keyof MetricEntry]: MetricEntry[Field] };

const noVariants: VariantValues = [];

/**
 * A value of zero is not sent, as protobuf has it. Nothing is lost of a sum that way, so a counter without a value has
 * none; but an observation of zero is one.
 */
function readEntry(reader: ProtoReader, shift: 0 | 1, drafts: MetricDrafts): void {
  const outer = reader.enter();
  const entry: EntryDraft = { metric: '', value: shift === 1 ? 0 : undefined };
  let variantValues: Map<string, number> | undefined;
  let time: number | undefined;
  while (reader.next()) {
    switch (reader.field - shift) {
      case 0: // Of a counter there is no field 0, so this is an observation.
        time = readTimestamp(reader);
        break;
      case 1:
        entry.metric = reader.name();
        break;
      case 2:
        entry.enabledCount = reader.count();
        break;
      case 3:
        entry.disabledCount = reader.count();
        break;
      case 4:
        entry.feature = reader.name();
        break;
      case 5:
        entry.value = reader.double();
        break;
      case 6:
        entry.valueDisabled = reader.double();
        break;
      case 7:
        variantValues ??= new Map();
        readMapEntry(reader, variantValues, 0, readDouble);
        break;
      default:
        reader.skip();
    }
  }
  reader.leave(outer);
  const variants = variantValues === undefined ? noVariants : [...variantValues];
  addValues(drafts, entry, variants, shift === 1 ? 'last' : 'sum', time);
}

const readDouble = (reader: ProtoReader) => reader.double();
