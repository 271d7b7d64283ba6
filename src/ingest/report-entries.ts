import { checkName } from './packet.ts';
import type { FeatureUsers, MetricValue, VariantUsage } from './report.ts';
import { checkSize, variantsPerEntry } from './report-checks.ts';

/**
 * What the entries of a report mean, whatever transport they came by. Protobuf cannot tell a plain field that is absent
 * from one that is zero, so nothing here does: an absent count or value is 0.
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
 * @throws {Refusal} of status 400: a name is none, or there are too many variants
 */
export function endEntry(variants: VariantDraft[], first: number, entry: UsageEntry): void {
  const { feature } = entry;
  checkName(feature, 'feature');
  checkSize(variants.length - first, variantsPerEntry, 'too_many_variants');
  if (variants.length === first) variants.push(...legacyVariants(entry));
  for (let at = first; at < variants.length; at += 1) {
    const draft = variants[at]!;
    checkName(draft.variant, 'variant');
    draft.feature = feature;
  }
}

function legacyVariants({ feature, enabledCount, disabledCount, usedCount }: UsageEntry): VariantDraft[] {
  const enabled = { feature, variant: 'enabled', checks: enabledCount ?? 0, used: usedCount ?? 0, viewed: 0 };
  const disabled = { feature, variant: 'disabled', checks: disabledCount ?? 0, used: 0, viewed: 0 };
  return [enabled, disabled].filter(({ checks, used }) => checks > 0 || used > 0);
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

/**
 * The values that an entry reports at `time` (Unix ms).
 *
 * Without a feature that is one: `value`. With a feature there is one for each variant: `value` is that of `enabled`,
 * `valueDisabled` that of `disabled`, and `variantValues` has the others and goes before both; a `value` of zero beside
 * `variantValues` is an absent one. Old senders have counts and no values: the legacy counts are read when there is no
 * value at all.
 *
 * @throws {Refusal} of status 400: a name is none, or there are too many variants
 */
export function valuesOf(
  entry: MetricEntry,
  variantValues: readonly (readonly [variant: string, value: number])[],
  time: number,
): readonly MetricValue[] {
  const { metric, feature } = entry;
  checkName(metric, 'metric');
  checkSize(variantValues.length, variantsPerEntry, 'too_many_variants');
  for (const [variant] of variantValues) checkName(variant, 'variant');
  const legacy = variantValues.length === 0 ? legacyCounts(entry) : undefined;
  if (feature == null) {
    const value = legacy === undefined ? (entry.value ?? 0) : legacy.enabled + legacy.disabled;
    return [{ metric, feature: undefined, variant: undefined, value, time }];
  }
  checkName(feature, 'feature');
  const enabled = legacy?.enabled ?? entry.value ?? 0;
  const disabled = legacy?.disabled ?? entry.valueDisabled;
  const values = new Map<string, number>();
  if (enabled !== 0 || variantValues.length === 0) values.set('enabled', enabled);
  if (disabled != null) values.set('disabled', disabled);
  for (const [variant, value] of variantValues) values.set(variant, value);
  return Array.from(values, ([variant, value]) => ({ metric, feature, variant, value, time }));
}

/** The counts of a sender that knows no values yet; `undefined` when there are values, or nothing at all. */
function legacyCounts({ enabledCount, disabledCount, value, valueDisabled }: MetricEntry) {
  if (value || valueDisabled != null || !(enabledCount || disabledCount)) return undefined;
  return { enabled: enabledCount ?? 0, disabled: disabledCount ?? 0 };
}
