import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { parseJson } from '../http/body.ts';
import { named, timed } from '../http/openapi/named-schemas.ts';
import type { MetricsReport, MetricValue } from './report.ts';
import { checkSize, entriesPerMetricsReport, variantsPerEntry } from './report-checks.ts';
import { valuesOf } from './report-entries.ts';
import {
  checkShape,
  count,
  headFields,
  listOf,
  mapOf,
  number,
  readHead,
  readTime,
  text,
} from './report-json.ts';

const Metric = Type.Object({
  metric: Type.String(named),
  enabledCount: count(),
  disabledCount: count(),
  feature: text(named),
  value: number(),
  valueDisabled: number(),
  variantValues: mapOf(Type.Number(), { documented: { maxProperties: variantsPerEntry } }),
});

const Observation = Type.Object({ ...Metric.properties, time: text(timed) });

const entries = { documented: { maxItems: entriesPerMetricsReport } };

/** A metrics report as JSON: the fields of the protobuf message `MetricStat`. */
export const MetricsReportSchema = Type.Object({
  ...headFields,
  stats: listOf(Metric, { ...entries, description: 'Values that are summed.' }),
  counters: listOf(Metric, { ...entries, description: 'Values that are summed.' }),
  observations: listOf(Observation, { ...entries, description: 'Values of which the last one stays.' }),
});

const checker = Compile(MetricsReportSchema);

/**
 * Reads a metrics report from JSON.
 * @throws {Refusal} of status 400, saying what is wrong and where
 */
export function decodeMetrics(json: string): MetricsReport {
  const body = checkShape(checker, parseJson(json));
  const head = readHead(body);
  const stats = body.stats ?? [];
  const counted = [...stats, ...(body.counters ?? [])];
  const observed = body.observations ?? [];
  checkSize(counted.length + observed.length, entriesPerMetricsReport, 'too_many_metrics');
  const timeOf = ({ time }: Static<typeof Observation>) =>
    time == null ? head.time : readTime(time, "An observation's time");
  return {
    ...head,
    statCount: stats.length,
    values: [
      ...counted.flatMap((entry) => readValues(entry, head.time)),
      ...observed.flatMap((entry) => readValues(entry, timeOf(entry))),
    ],
  };
}

function readValues(entry: Static<typeof Metric>, time: number): readonly MetricValue[] {
  return valuesOf(entry, Object.entries(entry.variantValues ?? {}), time);
}
