import type { SentHead } from './head.ts';
import type {
  FeatureUsers,
  MetricsReport,
  MetricValue,
  ReportNote,
  UsageReport,
  VariantUsage,
} from './report.ts';

/**
 * What the entries of a report mean, whatever transport they came by. Their names are checked when they are counted: one
 * that is not valid has no series (see `EnvironmentSeries`). A count or a value that is not valid is `NaN` here: what it would
 * have counted is left out, and noted.
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

/** What the entries of a usage report add up to so far. */
export interface UsageDrafts {
  statCount: number;
  readonly variants: VariantDraft[];
  readonly users: FeatureUsers[];
}

/** What a usage report has before any entry was read. */
export function newUsage(): UsageDrafts {
  return { statCount: 0, variants: [], users: [] };
}

/** A usage report of what its entries have. @param notes what is noted of it so far */
export function endUsage(
  head: SentHead,
  drafts: UsageDrafts,
  rest: Pick<UsageReport, 'appVersion' | 'environmentHashes'>,
  notes: Set<ReportNote>,
): UsageReport {
  if (drafts.variants.every(isCounted)) return { ...head, notes: [...notes], ...drafts, ...rest };
  notes.add('value_dropped');
  return { ...head, notes: [...notes], ...drafts, variants: drafts.variants.filter(isCounted), ...rest };
}

function isCounted({ checks, used, viewed }: VariantUsage): boolean {
  return !Number.isNaN(checks + used + viewed);
}

/**
 * Ends the variants that an entry counts: its `variantStats`, and only without any the legacy counts, as variants
 * `enabled` and `disabled`. Variants that a sender names are there even with zeros; a legacy one only when it counts
 * something, for every old entry has both.
 *
 * `requestCount` is not read: it says in how many requests a variant was checked at least once. That is another unit than
 * checks, so it must not stand in for them.
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
  if (checks !== 0 || used !== 0) variants.push({ feature, variant: 'enabled', checks, used, viewed: 0 });
  if (disabled !== 0) variants.push({ feature, variant: 'disabled', checks: disabled, used: 0, viewed: 0 });
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
  /** What is noted of the entries. */
  readonly notes: Set<ReportNote>;
}

/** What a report has before any entry was read. @param notes what is noted of it so far */
export function newDrafts(notes: Set<ReportNote>): MetricDrafts {
  return { values: [], notes };
}

/** A metrics report of what its entries have. */
export function endReport(head: SentHead, statCount: number, { values, notes }: MetricDrafts): MetricsReport {
  for (const value of values) value.time ??= head.time;
  return { ...head, notes: [...notes], statCount, values: values as readonly MetricValue[] };
}

/**
 * Adds the values of an entry, which it may report at a time of its own (Unix ms).
 *
 * With a feature there is one for each variant: `value` is that of `enabled`, `valueDisabled` that of `disabled`, and
 * `variantValues` has the others and goes before both. Without a feature there is `value`, or what `variantValues` has, for
 * current SDKs send these alone: their sum, or each of them where the last one stays. A `value` of zero beside others counts as
 * absent, because protobuf cannot tell the two apart. Old senders have counts and no values: the legacy counts are read when
 * there is no value at all.
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
  let dropped = false;
  const add = (variant: string | undefined, value: number) => {
    if (Number.isFinite(value)) drafts.values.push({ metric, feature, variant, value, time });
    else dropped = true;
  };
  if (feature === undefined) addPlain(entry, variantValues, merging, add);
  else {
    for (const [variant, value] of valuesByVariant(entry, variantValues, merging)) add(variant, value);
  }
  if (dropped) drafts.notes.add('value_dropped');
  else if (drafts.values.length === before) drafts.notes.add('value_missing');
}

/** Takes one value of an entry; one that is not finite is left out. */
type AddValue = (variant: string | undefined, value: number) => void;

function addPlain(
  entry: MetricEntry,
  variants: readonly VariantValue[],
  merging: Merging,
  add: AddValue,
): void {
  if (isThere(entry.value)) add(undefined, entry.value);
  else if (variants.length > 0) addVariants(variants, merging, add);
  else {
    const { enabled, disabled } = legacyCounts(entry) ?? {};
    const value = enabled === undefined ? entry.value : enabled + (disabled ?? 0);
    if (value != null) add(undefined, value);
  }
}

/** Values of variants without a feature are summed; where the last one stays, each of them counts. */
function addVariants(variants: readonly VariantValue[], merging: Merging, add: AddValue): void {
  const valid = variants.filter(({ value }) => Number.isFinite(value));
  if (valid.length < variants.length) add(undefined, Number.NaN);
  if (merging === 'last') for (const { value } of valid) add(undefined, value);
  else if (valid.length > 0) {
    add(
      undefined,
      valid.reduce((sum, { value }) => sum + value, 0),
    );
  }
}

/** Whether a value is one that was sent: zero may be an absent one. `NaN` is one that is not valid. */
function isThere(value: Maybe<number>): value is number {
  return value != null && value !== 0;
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
  const observesOne = merging === 'last' && isThere(enabled) !== isThere(disabled);
  const isAlone = variants.length === 0 && (enabled != null || disabled != null) && !observesOne;
  if (isThere(enabled) || isAlone) values.set('enabled', enabled ?? 0);
  if (isThere(disabled) || (disabled != null && !observesOne)) values.set('disabled', disabled);
  for (const { variant, value } of variants) values.set(variant, value);
  return values;
}

/** The counts of a sender that knows no values yet; `undefined` when there are values, or no counts. */
function legacyCounts({ enabledCount, disabledCount, value, valueDisabled }: MetricEntry) {
  if (isThere(value) || valueDisabled != null) return undefined;
  if (isThere(enabledCount) || isThere(disabledCount))
    return { enabled: enabledCount ?? 0, disabled: disabledCount ?? 0 };
  if (enabledCount == null && disabledCount == null) return undefined;
  return { enabled: 0, disabled: undefined };
}
