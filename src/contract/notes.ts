/** A note on an accepted packet or report. The texts have the same form as texts of refusals. */
export interface Note {
  readonly meaning: string;
  readonly remedy: string;
  /** Set if an entry was omitted. The response names the first omitted entry in `Flagmeter-Noted`. */
  readonly omits?: true;
}

/** Notes of the ledger by their stable codes. A message with a note is accepted, but not counted exactly as sent. */
export const ledgerNotes = {
  instance_dropped: {
    omits: true,
    meaning: 'The instance id of a packet is unknown or expired, and was ignored',
    remedy: 'Mint a new instance id for the user. The packet was counted without a user',
  },
  series_folded: {
    meaning: 'Names over a limit were counted as `__other__`',
    remedy: 'Remove data such as ids from the names, or raise `--max-features`, `--max-variants` or `--max-metrics`',
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
    remedy:
      'Export these metrics as counters with delta or cumulative temporality, without views that change the aggregation',
  },
  totals_full: {
    meaning: 'The application has reached its limit of cumulative sums, and the sums of new series were omitted',
    remedy: 'Export with delta temporality: `OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta`',
  },
  first_point: {
    omits: true,
    meaning: 'The first point of a cumulative sum was not counted, because its start is missing or over a day ago',
    remedy:
      'No action needed if the sender continues: later points count by their increase. Otherwise send `startTimeUnixNano`',
  },
  shared_series: {
    meaning: 'Several processes report the same cumulative sum, and some counts are missing or counted twice',
    remedy:
      'Give each process its own `service.instance.id`, or export with delta temporality: `OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta`',
  },
  time_moved: {
    meaning: 'Data with a time in the future, or before the retention, was counted at another time',
    remedy: 'Set the clock of the sender',
  },
  histogram_reduced: {
    meaning: 'Only the count and the sum of a histogram were counted',
    remedy: 'No action needed: the count and the sum became counters whose names end in `_count` and `_sum`',
  },
  gauge_undeclared: {
    meaning: 'A gauge is not declared as a gauge, so its values are shown as a sum',
    remedy: 'Declare the metric as a gauge. The declaration also applies to the values counted so far',
  },
  environment_unknown: {
    omits: true,
    meaning: 'Entries of an environment that the application does not have were omitted',
    remedy: 'Create the environment, or send a token that was adopted for an existing environment',
  },
  time_zone_missing: {
    meaning: 'Times of a report without a zone were read as UTC',
    remedy: 'Send times like `2026-01-31T12:00:00Z`',
  },
  field_unknown: {
    omits: true,
    meaning: 'A packet has an unknown field, which was ignored',
    remedy: 'Check the spelling of the field: the known fields are `k`, `e`, `f`, `m`, `i` and `u`',
  },
  possible_repeat: {
    meaning:
      'A message resembles an earlier message. The message was counted, because another process might have sent it',
    remedy:
      'If the message was a retry of a report, send an `Idempotency-Key` or a `time` finer than a millisecond. Unleash SDKs can do neither',
  },
  repeated: {
    meaning: 'A message was received again, and only its new counts were counted',
    remedy: 'No action needed: the sender did not receive the first response',
  },
} as const satisfies Readonly<Record<string, Note>>;

export type LedgerNote = keyof typeof ledgerNotes;

/** Response header for an accepted request that had no effect, or whose entries were partly omitted. */
export const notedHeader = 'Flagmeter-Noted';

/** Header value of the response if the identity to forget has no records. */
export const nothingStored = 'nothing_stored';

/** Codes of the notes on messages with an omitted entry. */
export const omissionCodes = (Object.keys(ledgerNotes) as LedgerNote[]).filter((code) => 'omits' in ledgerNotes[code]);
