import Type, { type Static } from 'typebox';
import { compiled } from '../compiled.ts';
import { ApiError } from '../errors.ts';
import { sentTime } from '../ingest/sender-schemas.ts';
import { addValues, endReport, type Merging, type MetricDrafts, newDrafts } from './entries.ts';
import {
  count,
  headFields,
  listOf,
  mapOf,
  name,
  number,
  optionalName,
  readHead,
  readReport,
  readTime,
  text,
} from './json.ts';
import type { MetricsReport } from './report.ts';

const Metric = Type.Object({
  metric: name(),
  enabledCount: count(),
  disabledCount: count(),
  feature: optionalName(),
  value: number(),
  valueDisabled: number(),
  variantValues: mapOf(Type.Number(), {
    description:
      'Values by variant of the feature. Without a feature they come to one value, if `value` is none.',
  }),
});

const Observation = Type.Object({ ...Metric.properties, time: text(sentTime) });

const lists = ['stats', 'counters', 'observations'] as const;

/** A metrics report as JSON: the fields of the protobuf message `MetricStat`. */
export const MetricsReportSchema = Type.Object(
  {
    ...headFields,
    stats: listOf(Metric, { description: 'Values that are summed.' }),
    counters: listOf(Metric, { description: 'Values that are summed.' }),
    observations: listOf(Observation, { description: 'Values of which the last one stays.' }),
  },
  { component: 'MetricsReport', documented: { anyOf: lists.map((list) => ({ required: [list] })) } },
);

type MetricsBody = Static<typeof MetricsReportSchema>;

const checker = compiled(MetricsReportSchema);

/**
 * Reads a metrics report from JSON.
 * @throws {ApiError} of status 400, saying what is wrong and where
 */
export function decodeMetrics(json: string): MetricsReport {
  const body = readReport(checker(), json);
  checkLists(body);
  const drafts = newDrafts();
  const stats = body.stats ?? [];
  for (const entry of stats) readValues(drafts, entry, 'sum');
  for (const entry of body.counters ?? []) readValues(drafts, entry, 'sum');
  for (const entry of body.observations ?? []) readValues(drafts, entry, 'last', timeOf(entry));
  return endReport(readHead(body), stats.length, drafts);
}

/** A misspelt name would count nothing. @throws {ApiError} `invalid_body` */
function checkLists(body: MetricsBody): void {
  if (lists.some((list) => body[list] !== undefined)) return;
  throw new ApiError('invalid_body', `The body must have at least one of ${lists.join(', ')}`);
}

function timeOf({ time }: Static<typeof Observation>): number | undefined {
  return time == null ? undefined : readTime(time, "An observation's time");
}

/** Adds the values of an entry, in which large numbers are texts (see `readReport`). */
function readValues(
  drafts: MetricDrafts,
  entry: Static<typeof Metric>,
  merging: Merging,
  time?: number,
): void {
  const { metric, feature, value, valueDisabled, variantValues } = entry;
  const numbers = {
    ...entry,
    metric: String(metric),
    feature: feature == null ? undefined : String(feature),
    value: value == null ? undefined : Number(value),
    valueDisabled: valueDisabled == null ? undefined : Number(valueDisabled),
  };
  const variants = Object.entries(variantValues ?? {}).map(([variant, each]) => ({
    variant,
    value: Number(each),
  }));
  addValues(drafts, numbers, variants, merging, time);
}
