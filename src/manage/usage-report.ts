import { bucketWidth } from '../store/blocks.ts';
import { seriesOf } from '../store/series.ts';
import { countCells, type UsageStore } from '../store/usage.ts';
import { bucketStart, minuteText, type ReportRange } from './report-range.ts';
import { inTurns } from './turns.ts';

interface Totals {
  checks: number;
  used: number;
  viewed: number;
}

type Point = [t: number, checks: number, used: number, viewed: number];

interface VariantUsage extends Totals {
  readonly variant: string;
  readonly series: Point[];
}

interface FeatureUsage extends Totals {
  readonly feature: string;
  readonly variants: VariantUsage[];
}

/** Usage of an environment's features: totals, and a series of buckets per variant (`t` in Unix seconds). */
export interface UsageReport {
  readonly environment: string;
  readonly from: string;
  readonly to: string;
  readonly step: string;
  readonly features: readonly FeatureUsage[];
}

/**
 * Adds up the count cells of an environment.
 * @param only the one feature to report; every feature when undefined
 */
export async function usageReport(
  store: UsageStore,
  environment: { readonly name: string; readonly number: number },
  range: ReportRange,
  only: string | undefined,
): Promise<UsageReport> {
  store.counts.resetReadTxn(); // What was answered 202 before this request is in the report.
  const variants = variantsOf(store, environment.number, only);
  const features = new Map<string, FeatureUsage>();
  const cells = countCells(store, environment.number, bucketWidth.minute, range.from, range.to);
  await inTurns(cells, ({ minute, ordinal, value }) => {
    const usage = variants.get(ordinal);
    if (usage === undefined) return;
    addPoint(usage.series, bucketStart(minute, range.step), value);
    addTotals(usage, value);
  });
  for (const { feature, ...usage } of variants.values()) {
    if (usage.series.length === 0) continue;
    const total = features.get(feature) ?? { feature, checks: 0, used: 0, viewed: 0, variants: [] };
    features.set(feature, total);
    addTotals(total, usage);
    total.variants.push(usage);
  }
  return {
    environment: environment.name,
    from: minuteText(range.from),
    to: minuteText(range.to),
    step: range.step,
    features: [...features.values()],
  };
}

function variantsOf(store: UsageStore, environment: number, only: string | undefined) {
  const variants = new Map<number, VariantUsage & { readonly feature: string }>();
  for (const { ordinal, name } of seriesOf(store, environment)) {
    if (name.length !== 2) continue;
    const [feature, variant] = name;
    if (only !== undefined && feature !== only) continue;
    variants.set(ordinal, { feature, variant, checks: 0, used: 0, viewed: 0, series: [] });
  }
  return variants;
}

function addPoint(series: Point[], t: number, value: Totals): void {
  const last = series.at(-1);
  if (last?.[0] !== t) {
    series.push([t, value.checks, value.used, value.viewed]);
    return;
  }
  last[1] += value.checks;
  last[2] += value.used;
  last[3] += value.viewed;
}

function addTotals(into: Totals, value: Totals): void {
  into.checks += value.checks;
  into.used += value.used;
  into.viewed += value.viewed;
}
