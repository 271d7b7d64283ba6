import type { Overview, OverviewFeature } from '../../../contract/shapes/overview.ts';
import { type Filter, filterRows } from './rows.ts';

export interface FeatureAcrossRow {
  readonly feature: string;
  readonly by: ReadonlyMap<string, OverviewFeature>;
}

/** Returns the flags of several environments. A flag is included if the filter accepts it in at least one of them. */
export function acrossEnvironments(
  overviews: ReadonlyMap<string, Pick<Overview, 'features'>>,
  filter: Filter,
): FeatureAcrossRow[] {
  const rows = new Map<string, Map<string, OverviewFeature>>();
  const wanted = new Set<string>();
  for (const [environment, { features }] of overviews) {
    for (const row of features) {
      const by = rows.get(row.feature) ?? new Map<string, OverviewFeature>();
      rows.set(row.feature, by.set(environment, row));
    }
    for (const { feature } of filterRows(features, filter)) wanted.add(feature);
  }
  return Array.from(rows, ([feature, by]) => ({ feature, by })).filter(({ feature }) => wanted.has(feature));
}
