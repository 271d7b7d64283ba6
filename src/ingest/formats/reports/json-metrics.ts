import Type, { type Static } from 'typebox';
import { ApiError } from '../../../contract/errors.ts';
import { compiled } from '../../../runtime/compiled.ts';
import { sentTime } from '../../sender-schemas.ts';
import { addValues, endReport, type Merging, type MetricDrafts, newDrafts } from './entries.ts';
import {
  count,
  type Fields,
  headFields,
  listOf,
  mapOf,
  name,
  nameOf,
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
      'Values by variant of the feature. Without a feature and `value`, they are summed; in an observation each of them counts.',
  }),
});

const Observation = Type.Object({ ...Metric.properties, time: text(sentTime) });

const lists = ['stats', 'counters', 'observations'] as const;

/** A metrics report as JSON: the fields of the protobuf message `MetricStat`. */
export const MetricsReportSchema = Type.Object(
  {
    ...headFields,
    stats: listOf(Metric, { description: 'Values to sum.' }),
    counters: listOf(Metric, { description: 'Values to sum.' }),
    observations: listOf(Observation, { description: 'Values. The last of each series is kept.' }),
  },
  { component: 'MetricsReport', documented: { anyOf: lists.map((list) => ({ required: [list] })) } },
);

const checker = compiled(MetricsReportSchema);

export function decodeMetrics(json: string): MetricsReport {
  const { body, notes } = readReport(MetricsReportSchema, checker(), json, checkLists);
  const head = readHead(body, notes);
  const drafts = newDrafts(notes);
  const stats = body.stats ?? [];
  for (const entry of stats) readValues(drafts, entry, 'sum');
  for (const entry of body.counters ?? []) readValues(drafts, entry, 'sum');
  for (const [at, entry] of (body.observations ?? []).entries())
    readValues(drafts, entry, 'last', readTime(entry.time, notes, ['observations', at, 'time']));
  return endReport(head, stats.length, drafts);
}

/** A misspelt name would count nothing. @throws {ApiError} `invalid_body` */
function checkLists(body: Fields): void {
  if (lists.some((list) => body[list] === null || Array.isArray(body[list]))) return;
  throw new ApiError('invalid_body', `The body must have at least one of ${lists.join(', ')}`);
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
    metric: nameOf(metric),
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
