import type { Total } from '../clients/totals.ts';
import type { Reports } from './reports.ts';

/** Returns the sum of each series of the reports. */
export function sumSeries({ usage, metrics }: Pick<Reports, 'usage' | 'metrics'>): Map<string, number> {
  const counts = usage.features.flatMap(({ feature, variants }) =>
    variants.map(({ variant, checks }) => [`feature ${feature} ${variant}`, checks] as const),
  );
  const values = metrics.map(({ metric, value }) => [`metric ${metric}`, value] as const);
  return new Map([...counts, ...values]);
}

/** Returns the key of a series in the result of `sumSeries`. */
export function formatSeriesKey({ kind, name, variant }: Pick<Total, 'kind' | 'name' | 'variant'>): string {
  return kind === 'metric' ? `metric ${name}` : `feature ${name} ${variant}`;
}
