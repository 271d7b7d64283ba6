import { ProtoReader } from '../../grpc/proto-reader.ts';
import {
  addValues,
  endReport,
  type Merging,
  type MetricDrafts,
  type MetricEntry,
  newDrafts,
  type VariantValue,
} from './entries.ts';
import { finishHead, keepLatest, newHead, readHeadField, readMapEntry, readTimestamp } from './proto.ts';
import type { MetricsReport, ReportNote } from './report.ts';

/** Decodes a `Metrics.MetricStat` (`proto/metrics.proto`). @throws {ApiError} of status 400 with the error */
export function decodeMetricsReport(message: Uint8Array): MetricsReport {
  const head = newHead();
  const notes = new Set<ReportNote>();
  const drafts = newDrafts(notes);
  let statCount = 0;
  const reader = new ProtoReader(message);
  while (reader.next()) {
    switch (reader.field) {
      case 4:
        statCount += 1;
        readEntry(reader, 'sum', drafts);
        break;
      case 5:
        readEntry(reader, 'sum', drafts);
        break;
      case 6:
        readEntry(reader, 'last', drafts);
        break;
      case 7:
        head.instanceName = reader.name();
        break;
      default:
        readHeadField(reader, head);
    }
  }
  return endReport(finishHead(head, notes), statCount, drafts);
}

type EntryDraft = { -readonly [Field in keyof MetricEntry]: MetricEntry[Field] };

const noVariants: readonly VariantValue[] = [];

/**
 * Adds a `Metrics.MetricStatMessage` or `Metrics.MetricCounterMessage`, which are summed, or a
 * `Metrics.MetricObservationMessage`, of which the last is kept. An observation starts with its time, which shifts the numbers
 * of the other fields by one. Protobuf does not send a value of zero. A counter without a value has none, which changes no sum.
 * An observation without a value is zero.
 */
function readEntry(reader: ProtoReader, merging: Merging, drafts: MetricDrafts): void {
  const outer = reader.enter();
  const shift = merging === 'last' ? 1 : 0;
  const entry: EntryDraft = { metric: '', value: merging === 'last' ? 0 : undefined };
  let variants: VariantValue[] | undefined;
  let time: number | undefined;
  while (reader.next()) {
    switch (reader.field - shift) {
      case 0: // A counter has no field 0, so this is an observation.
        time = readTimestamp(reader);
        if (time === undefined) drafts.notes.add('value_dropped');
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
        variants ??= [];
        variants.push(readMapEntry(reader, { variant: '', value: 0 }, readDouble));
        break;
      default:
        reader.skip();
    }
  }
  reader.leave(outer);
  if (variants !== undefined) keepLatest(variants, 0);
  addValues(drafts, entry, variants ?? noVariants, merging, time);
}

function readDouble(reader: ProtoReader, entry: { value: number }): void {
  entry.value = reader.double();
}
