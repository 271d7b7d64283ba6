import { surplusName } from '../../contract/names.ts';
import type { Page } from '../../contract/shapes/fields.ts';
import type { Metric } from '../../contract/shapes/metric.ts';
import { cutPage, type PageRequest } from '../../http/lists.ts';
import type { MetricDeclaration } from '../../storage/lmdb/records.ts';
import type { Reading } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import { pickSeries } from './sights.ts';

export interface MetricsTask {
  /** The numbers of its environments. */
  readonly environments: readonly number[];
  readonly declared: readonly MetricDeclaration[];
  /** Whether to report only declared metrics, or only the others. */
  readonly only: boolean | undefined;
  readonly page: PageRequest<string>;
}

/** A page of an application's metrics, declared or only seen, sorted by name. */
export function* metricsReport(
  store: UsageTables,
  { environments, declared, only, page }: MetricsTask,
): Reading<Page<Metric>> {
  const declarations = new Map(declared.map((each) => [each.name, each]));
  const names = new Set([...declarations.keys(), ...(yield* namesSeen(store, environments))]);
  const metrics = Array.from(names, (name) => showMetric(name, declarations.get(name)));
  const wanted = metrics.filter((metric) => metric.declared === (only ?? metric.declared));
  return cutPage(wanted, page, ({ name }) => name);
}

/** A metric as in the API. @param declaration `undefined` if it was only seen */
export function showMetric(name: string, declaration: MetricDeclaration | undefined): Metric {
  const { kind = 'counter', unit = null } = declaration ?? {};
  return { name, kind, ...(unit === null ? {} : { unit }), declared: declaration !== undefined };
}

/** The metrics named by packets and reports, with those of features, without `__other__`. */
function* namesSeen(store: UsageTables, environments: readonly number[]): Reading<ReadonlySet<string>> {
  const names = new Set<string>();
  for (const environment of environments)
    yield* pickSeries(store, environment, (name) => {
      if (name.length !== 2 && name[0] !== surplusName) names.add(name[0]);
    });
  return names;
}
