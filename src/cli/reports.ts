import { peopleNumbers } from '../contract/numbers.ts';
import type { AnyColumns } from '../contract/resources/column.ts';
import { option } from '../contract/shapes/option.ts';
import { dayRanges } from '../contract/time-formats.ts';
import type { Item } from './api.ts';
import { clientCommand, tableNotes } from './client-command.ts';
import type { Command } from './command.ts';
import { ingest } from './ingest-report.ts';
import { createCommand, type Report, readItems, type Sheet } from './report.ts';
import { readFields } from './send.ts';
import { show } from './show.ts';

/** Sums without `--step` are computed from buckets of days, because a range contains fewer days than hours. */
const step = option('step STEP', 'Print a line for each minute, hour or day instead of sums', {
  values: ['minute', 'hour', 'day'],
  default: 'day',
});

const variantColumns = {
  feature: { label: 'Feature', cut: 'last' },
  variant: { label: 'Variant', cut: true },
} as const;
const countColumns = {
  checks: { label: 'Checks', right: true },
  used: { label: 'Used', right: true },
  viewed: { label: 'Viewed', right: true },
} as const;

/** The start of a bucket, in Unix seconds. A terminal also shows it as an absolute time. */
const timeColumn = {
  at: { label: 'Time', of: ({ at }: Item) => show(new Date(Number(at) * 1000).toISOString()) },
} as const;

const usage: Report = {
  name: 'usage',
  summary: 'Report checks, uses, views and unique users of features',
  examples: [
    'usage --app Shop --env Production --from 7d',
    'usage --env Production --feature checkout --step hour --format csv',
  ],
  of: 'one environment',
  fields: [option('feature NAME', 'Only this feature'), step],
  headline: countPeople,
  withOverview: true,
  tables: (report, given, overview) => [given.has('step') ? usageByTime(report) : usageSums(report, overview)],
  empty: 'No usage in this period',
};

const showPeople = peopleNumbers('en-GB');
const showDays = dayRanges('en-GB');

/** Returns the number of people in the environment and their days; `undefined` if no sender reports people. */
function countPeople({ uniqueUsers, userDays }: Item): string | undefined {
  const { from, to } = readFields(userDays);
  const days = from === undefined ? '' : ` (${showDays(String(from), String(to), String(to))})`;
  const count = Number(uniqueUsers);
  return count > 0 ? `People in the environment: ${showPeople(count)}${days}` : undefined;
}

/** Formats one row for each feature, and one for each of its variants. Omits figures that the senders do not report. */
function usageSums(report: Item, overview: Item): Sheet {
  const known = readItems(overview, 'features').filter(({ checksOnly }) => checksOnly !== undefined);
  const checksOnly = new Set(known.map(({ feature }) => feature));
  const items = readItems(report, 'features').flatMap((each) => {
    const isUnknown = (field: string) =>
      each[field] === 0 && (field === 'uniqueUsers' || checksOnly.has(each['feature']));
    const unknown = Object.fromEntries(
      ['used', 'viewed', 'uniqueUsers'].filter(isUnknown).map((field) => [field, null]),
    );
    const variants = readItems(each, 'variants').map((one) => ({ ...one, feature: each['feature'], ...unknown }));
    return [{ ...each, variant: '(all)', ...unknown }, ...variants];
  });
  const uniqueUsers = { label: 'People', right: true, people: true } as const;
  return { columns: { ...variantColumns, ...countColumns, uniqueUsers }, items };
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
  examples: ['measurements --env Production --metric revenue --from 30d'],
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
  const metric = { label: 'Metric', cut: 'last' } as const;
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
