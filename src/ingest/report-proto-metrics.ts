import { ProtoReader } from './proto-reader.ts';
import type { MetricsReport } from './report.ts';
import { type Merging, type MetricEntry, metricsReportOf, valuesOf } from './report-entries.ts';
import { finishHead, newHead, readMapEntry, readTimestamp } from './report-proto.ts';

/** A stat, a counter or an observation. */
interface Entry {
  readonly entry: MetricEntry;
  readonly variantValues: ReadonlyMap<string, number>;
  /** Unix ms; only an observation has a time of its own. */
  readonly time: number | undefined;
  readonly merging: Merging;
}

/**
 * Decodes a `Metrics.MetricStat` (`proto/metrics.proto`).
 * @throws {Refusal} of status 400, saying what is wrong with it
 */
export function decodeMetricsReport(message: Uint8Array): MetricsReport {
  const head = newHead();
  const stats: Entry[] = [];
  const counters: Entry[] = [];
  const observations: Entry[] = [];
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
        stats.push(readCounter(reader));
        break;
      case 5:
        counters.push(readCounter(reader));
        break;
      case 6:
        observations.push(readObservation(reader));
        break;
      case 7:
        head.instanceName = reader.string();
        break;
      default:
        reader.skip();
    }
  }
  const finished = finishHead(head);
  const values = [...stats, ...counters, ...observations].map(({ entry, variantValues, time, merging }) =>
    valuesOf(entry, variantValues, time ?? finished.time, merging),
  );
  return metricsReportOf(finished, stats.length, values);
}

/** A `Metrics.MetricStatMessage` or `Metrics.MetricCounterMessage`. */
function readCounter(reader: ProtoReader): Entry {
  return readEntry(reader, 0);
}

/** A `Metrics.MetricObservationMessage`: its time comes first, and the other fields are one number further on. */
function readObservation(reader: ProtoReader): Entry {
  return readEntry(reader, 1);
}

type EntryDraft = { -readonly [Field in keyof MetricEntry]: MetricEntry[Field] };

const noVariants: ReadonlyMap<string, number> = new Map();

/**
 * A value of zero is not sent, as protobuf has it. Nothing is lost of a sum that way, so a counter without a value has
 * none; but an observation of zero is one.
 */
function readEntry(reader: ProtoReader, shift: 0 | 1): Entry {
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
  const merging = shift === 1 ? 'last' : 'sum';
  return { entry, variantValues: variantValues ?? noVariants, time, merging };
}

const readDouble = (reader: ProtoReader) => reader.double();
