/** A remark on an accepted packet or report. Texts are like those of refusals. */
export interface Note {
  readonly meaning: string;
  readonly remedy: string;
  /** Set if an entry was left out. The answer names the first one in `Flagmeter-Noted`. */
  readonly omits?: true;
}

/** The notes of the ledger, under their stable codes. Their packets and reports were accepted, but not counted exactly as sent. */
export const ledgerNotes = {
  instance_dropped: {
    omits: true,
    meaning: 'The instance id of a packet is unknown or expired, and was ignored',
    remedy: 'Mint a new one for the user. The packet was counted without a user',
  },
  series_folded: {
    meaning: 'Names over a limit were counted as `__other__`',
    remedy:
      'Use fewer names: some may contain data, such as ids. Or raise `--max-features`, `--max-variants` or `--max-metrics`',
  },
  name_dropped: {
    omits: true,
    meaning: 'Entries with empty, too long or invalid names were omitted',
    remedy: 'Use names of 1 to 256 bytes of UTF-8 without control characters',
  },
  value_missing: {
    omits: true,
    meaning: 'Metrics without a value were omitted',
    remedy: 'Send `value`, or `variantValues` for a metric of a feature',
  },
  value_dropped: {
    omits: true,
    meaning: 'Values that cannot be counted were omitted',
    remedy: 'Send counts up to 2147483647 and finite numbers',
  },
  sum_unsupported: {
    meaning: 'OpenTelemetry metrics of flag evaluations that are not monotonic sums were omitted',
    remedy: 'Export them as counters with delta or cumulative temporality, without views that change the aggregation',
  },
  totals_full: {
    meaning: 'The application has as many cumulative sums as it may have, and those of new series were omitted',
    remedy: 'Export with delta temporality: `OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta`',
  },
  first_point: {
    omits: true,
    meaning:
      'The first point of a cumulative sum was not counted, because its start is missing or over a day ago, and a part of it may have been counted before',
    remedy: 'None if the sender goes on: later points count by their increase. Otherwise send `startTimeUnixNano`',
  },
  shared_series: {
    meaning:
      'A cumulative sum decreased although its start is the same: several processes report it, and some of their counts are missing or counted twice',
    remedy:
      'Give each process its own `service.instance.id`, or export with delta temporality: `OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta`',
  },
  time_moved: {
    meaning: 'Data with a time in the future, or before the retention, was counted at another time',
    remedy: 'Set the clock of the sender',
  },
  histogram_reduced: {
    meaning: 'Of a histogram, only the count and the sum were counted',
    remedy: 'None: they are counters whose names end in `_count` and `_sum`',
  },
  gauge_undeclared: {
    meaning: 'A gauge is not declared as one, so its values are shown added up',
    remedy: 'Declare the metric as a gauge. That also applies to the values counted so far',
  },
  environment_unknown: {
    omits: true,
    meaning: 'Entries of an environment that the application does not have were omitted',
    remedy: 'Create the environment, or send them with a token that was adopted for one',
  },
  time_zone_missing: {
    meaning: 'Times of a report without a zone were read as UTC',
    remedy: 'Send times like `2026-01-31T12:00:00Z`',
  },
  field_unknown: {
    omits: true,
    meaning: 'A packet has an unknown field, which was ignored',
    remedy: 'Check its spelling: the fields are `k`, `e`, `f`, `m`, `i` and `u`',
  },
  possible_repeat: {
    meaning: 'A message resembles an earlier one. It was counted, because it may be of another process',
    remedy:
      'If it was a retry of a report, send an `Idempotency-Key` or a `time` finer than a millisecond. Unleash SDKs can do neither',
  },
  repeated: {
    meaning: 'A message was received again, and only what it adds was counted',
    remedy: 'None: the sender missed the first answer',
  },
} as const satisfies Readonly<Record<string, Note>>;

export type LedgerNote = keyof typeof ledgerNotes;

/** Header of the response to a request that was accepted, but of which something was left out, or had no effect. */
export const notedHeader = 'Flagmeter-Noted';

/** Value of the header after a request to forget an identity without records. */
export const nothingStored = 'nothing_stored';

/** The codes of notes on messages of which an entry was left out. */
export const omissionCodes = (Object.keys(ledgerNotes) as LedgerNote[]).filter((code) => 'omits' in ledgerNotes[code]);
