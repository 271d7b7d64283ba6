import { ApiError } from '../errors.ts';
import type { FeatureUsers, MetricsReport, MetricValue, ReportHead, VariantUsage } from './report.ts';

/**
 * What the entries of a report mean, whatever transport they came by. Their names are checked when they are counted: one
 * that is not valid has no series (see `EnvironmentSeries`).
 */

type Maybe<T> = T | null | undefined;

/** One feature's counts as they were sent. */
export interface UsageEntry {
  readonly feature: string;
  readonly enabledCount?: Maybe<number>;
  readonly disabledCount?: Maybe<number>;
  readonly usedCount?: Maybe<number>;
}

/** Counts of a variant that were read when the feature may not have been yet. */
export type VariantDraft = { -readonly [Field in keyof VariantUsage]: VariantUsage[Field] };

/**
 * Ends the variants that an entry counts: its `variantStats`, and only without any the legacy counts, as variants
 * `enabled` and `disabled`. Variants that a sender names are there even with zeros; a legacy one only when it counts
 * something, for every old entry has both.
 *
 * `requestCount` is left out on purpose: it says in how many requests a variant was checked at least once. That is
 * another unit than checks, so it must not stand in for them, and a variant that was in a request was checked.
 *
 * @param variants those of the report so far: from `first` on the entry's `variantStats`
 */
export function endEntry(variants: VariantDraft[], first: number, entry: UsageEntry): void {
  if (variants.length === first) addLegacyVariants(variants, entry);
  for (let at = first; at < variants.length; at += 1) variants[at]!.feature = entry.feature;
}

function addLegacyVariants(variants: VariantDraft[], entry: UsageEntry): void {
  const { feature } = entry;
  const checks = entry.enabledCount ?? 0;
  const used = entry.usedCount ?? 0;
  const disabled = entry.disabledCount ?? 0;
  if (checks > 0 || used > 0) variants.push({ feature, variant: 'enabled', checks, used, viewed: 0 });
  if (disabled > 0) variants.push({ feature, variant: 'disabled', checks: disabled, used: 0, viewed: 0 });
}

/** The users of a feature: whoever viewed it is one of them. Nothing when there are no hashes. */
export function usersOf(
  feature: string,
  hashes: readonly string[],
  viewedHashes: readonly string[],
): readonly FeatureUsers[] {
  if (hashes.length === 0 && viewedHashes.length === 0) return [];
  return [{ feature, hashes: [...new Set([...hashes, ...viewedHashes])] }];
}

/** One metric's values as they were sent. */
export interface MetricEntry {
  readonly metric: string;
  readonly enabledCount?: Maybe<number>;
  readonly disabledCount?: Maybe<number>;
  readonly feature?: Maybe<string>;
  readonly value?: Maybe<number>;
  readonly valueDisabled?: Maybe<number>;
}

/** A variant's value in an entry, as it was sent. */
export interface VariantValue {
  readonly variant: string;
  readonly value: number;
}

/** How several values of a metric become one: they are summed, or the last one stays. */
export type Merging = 'sum' | 'last';

/** What the entries of a report have so far. Without a time of its own, a value is of the time of the report. */
export interface MetricDrafts {
  readonly values: (Omit<MetricValue, 'time'> & { time: number | undefined })[];
  /** Whether an entry had no value. */
  lacksValue: boolean;
}

/** What a report has before any entry was read. */
export function newDrafts(): MetricDrafts {
  return { values: [], lacksValue: false };
}

/** A metrics report of what its entries have. */
export function endReport(head: ReportHead, statCount: number, drafts: MetricDrafts): MetricsReport {
  const notes = drafts.lacksValue ? [...head.notes, 'value_missing' as const] : head.notes;
  for (const value of drafts.values) value.time ??= head.time;
  return { ...head, notes, statCount, values: drafts.values as readonly MetricValue[] };
}

/**
 * Adds the values of an entry, which it may report at a time of its own (Unix ms).
 *
 * With a feature there is one for each variant: `value` is that of `enabled`, `valueDisabled` that of `disabled`, and
 * `variantValues` has the others and goes before both. Without a feature there is one: `value`, or what `variantValues` come
 * to, for current SDKs send these alone. A `value` of zero beside others is an absent one, because protobuf cannot tell
 * the two apart. Old senders have counts and no values: the legacy counts are read when there is no value at all.
 *
 * @throws {ApiError} `invalid_number`: the sum of the values is not finite
 */
export function addValues(
  drafts: MetricDrafts,
  entry: MetricEntry,
  variantValues: readonly VariantValue[],
  merging: Merging,
  time?: number,
): void {
  const { metric } = entry;
  const feature = entry.feature ?? undefined;
  const before = drafts.values.length;
  if (feature === undefined) {
    const value = plainValue(entry, variantValues, merging);
    if (value !== undefined) drafts.values.push({ metric, feature, variant: undefined, value, time });
  } else {
    for (const [variant, value] of valuesByVariant(entry, variantValues, merging))
      drafts.values.push({ metric, feature, variant, value, time });
  }
  if (drafts.values.length === before) drafts.lacksValue = true;
}

function plainValue(
  entry: MetricEntry,
  variants: readonly VariantValue[],
  merging: Merging,
): number | undefined {
  if (entry.value) return entry.value;
  if (variants.length > 0) return merge(variants, merging);
  const { enabled, disabled } = legacyCounts(entry) ?? {};
  return enabled === undefined ? (entry.value ?? undefined) : enabled + (disabled ?? 0);
}

function merge(variants: readonly VariantValue[], merging: Merging): number {
  if (merging === 'last') return variants.at(-1)!.value;
  const sum = variants.reduce((total, { value }) => total + value, 0);
  if (Number.isFinite(sum)) return sum;
  throw new ApiError('invalid_number', 'The sum of the variantValues of a metric must be finite');
}

function valuesByVariant(
  entry: MetricEntry,
  variants: readonly VariantValue[],
  merging: Merging,
): ReadonlyMap<string, number> {
  const legacy = variants.length === 0 ? legacyCounts(entry) : undefined;
  const enabled = legacy?.enabled ?? entry.value;
  const disabled = legacy?.disabled ?? entry.valueDisabled;
  const values = new Map<string, number>();
  // Published SDKs observe one variant at a time and write zero for the other one, which they did not observe.
  const observesOne = merging === 'last' && !enabled !== !disabled;
  const isAlone = variants.length === 0 && (enabled != null || disabled != null) && !observesOne;
  if (enabled || isAlone) values.set('enabled', enabled ?? 0);
  if (disabled || (disabled != null && !observesOne)) values.set('disabled', disabled);
  for (const { variant, value } of variants) values.set(variant, value);
  return values;
}

/** The counts of a sender that knows no values yet; `undefined` when there are values, or no counts. */
function legacyCounts({ enabledCount, disabledCount, value, valueDisabled }: MetricEntry) {
  if (value || valueDisabled != null) return undefined;
  if (enabledCount || disabledCount) return { enabled: enabledCount ?? 0, disabled: disabledCount ?? 0 };
  if (enabledCount == null && disabledCount == null) return undefined;
  return { enabled: 0, disabled: undefined };
}
