import type { AnyColumns } from '../contract/resources/column.ts';
import { option } from '../contract/shapes/option.ts';
import type { Item } from './api.ts';
import { clientCommand, tableNotes } from './client-command.ts';
import type { Command } from './command.ts';
import { ingest } from './ingest-report.ts';
import { createCommand, type Report, readItems, type Sheet } from './report.ts';

/** Sums without `--step` are computed from buckets of days, because a range contains fewer days than hours. */
const step = option('step STEP', 'Print a line for each minute, hour or day instead of sums', {
  values: ['minute', 'hour', 'day'],
  default: 'day',
});

const variantColumns = { feature: { label: 'Feature', cut: true }, variant: { label: 'Variant', cut: true } } as const;
const countColumns = {
  checks: { label: 'Checks', right: true },
  used: { label: 'Used', right: true },
  viewed: { label: 'Viewed', right: true },
} as const;

/** The start of a bucket, in Unix seconds. */
const timeColumn = { at: { label: 'Time', of: ({ at }: Item) => new Date(Number(at) * 1000).toISOString() } } as const;

const usage: Report = {
  name: 'usage',
  summary: 'Report checks, uses, views and unique users of features',
  of: 'one environment',
  fields: [option('feature NAME', 'Only this feature'), step],
  tables: (report, given) => [given.has('step') ? usageByTime(report) : usageSums(report)],
  empty: 'No usage in this period',
};

/** Formats one row for each feature, and one for each of its variants. */
function usageSums(report: Item): Sheet {
  const items = readItems(report, 'features').flatMap((each) => [
    { ...each, variant: '(all)' },
    ...readItems(each, 'variants').map((one) => ({ ...one, feature: each['feature'] })),
  ]);
  return { columns: { ...variantColumns, ...countColumns, uniqueUsers: { label: 'Users', right: true } }, items };
}

/** Formats one row for each bucket of each variant, in order of time. */
function usageByTime(report: Item): Sheet {
  const items = readItems(report, 'features').flatMap((each) =>
    readItems(each, 'variants').flatMap((one) =>
      readPoints(one).map(([at, checks, used, viewed]) => {
        return { at, feature: each['feature'], variant: one['variant'], checks, used, viewed };
      }),
    ),
  );
  return { columns: { ...timeColumn, ...variantColumns, ...countColumns }, items: byTime(items) };
}

const measurements: Report = {
  name: 'measurements',
  summary: 'Report the values of metrics',
  of: 'one environment',
  fields: [option('metric NAME', 'Only this metric'), step],
  tables: (report, given) => [given.has('step') ? valuesByTime(report) : values(report)],
  empty: 'No measurements in this period',
};

const valueColumn = { label: 'Value', right: true } as const;

function values(report: Item): Sheet {
  const items = readItems(report, 'metrics');
  const columns = {
    ...selectIdentityColumns(items),
    kind: 'Kind',
    value: valueColumn,
    count: { label: 'Count', right: true },
    min: { label: 'Min', right: true },
    max: { label: 'Max', right: true },
    lastAt: 'Last',
  } as const;
  return { columns, items };
}

function valuesByTime(report: Item): Sheet {
  const metrics = readItems(report, 'metrics');
  const items = metrics.flatMap((one) => readPoints(one).map(([at, value]) => ({ ...one, at, value })));
  return { columns: { ...timeColumn, ...selectIdentityColumns(metrics), value: valueColumn }, items: byTime(items) };
}

/** Returns the metric column. Adds the feature and variant columns if at least one metric has a feature. */
function selectIdentityColumns(items: readonly Item[]): AnyColumns {
  const metric = { label: 'Metric', cut: true } as const;
  return { metric, ...(items.some((item) => item['feature'] !== undefined) && variantColumns) };
}

function readPoints(one: Item): readonly (readonly number[])[] {
  return Array.isArray(one['series']) ? one['series'] : [];
}

function byTime<T extends { readonly at: number | undefined }>(items: readonly T[]): readonly T[] {
  return items.toSorted((a, b) => Number(a.at) - Number(b.at));
}

export const reports = { usage, measurements, ingest } as const satisfies Readonly<Record<string, Report>>;

export type ReportName = keyof typeof reports;

export function reportCommand(name: ReportName): Command {
  const report: Report = reports[name];
  return clientCommand({
    ...createCommand(report),
    notes: `${report.notes ?? ''}${tableNotes}`,
    run: async (given, context) => (await import('./report-command.ts')).runReport(report, given, context),
  });
}
