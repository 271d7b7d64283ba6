import { Refusal } from '../../../contract/errors.ts';
import { isName } from '../../../contract/names.ts';
import type { LedgerNote } from '../../../contract/notes.ts';
import { addNote, type Notes, pathText } from '../../omissions.ts';
import { checkName } from '../../sender-schemas.ts';

/**
 * Fields of usage and metrics reports of every transport. Names and counts are checked, but not the key. Times are Unix
 * ms, with microseconds as a fraction.
 */
export interface ReportHead {
  readonly appKey: string;
  readonly environment: string;
  /** Time of the report, Unix ms. */
  readonly time: number;
  readonly instanceName: string | undefined;
  /** Start time of the process, Unix ms. */
  readonly processStartTime: number | undefined;
  readonly notes: ReadonlyMap<ReportNote, string | undefined>;
}

type ReportNote = Extract<LedgerNote, 'name_dropped' | 'value_missing' | 'value_dropped' | 'time_zone_missing'>;

export type ReportNotes = Notes<ReportNote>;

interface VariantUsage {
  readonly feature: string;
  readonly variant: string;
  readonly checks: number;
  readonly used: number;
  readonly viewed: number;
}

/**
 * Hashes of users, computed by the sender. They are canonical decimal integers of any size (`-12`, no leading zeros).
 * They belong to the feature, because senders do not report the variant of each user.
 */
interface FeatureUsers {
  readonly feature: string;
  readonly hashes: readonly string[];
}

export interface UsageReport extends ReportHead {
  /** Version of the reporting program. */
  readonly appVersion: string | undefined;
  /** Number of received `stats` entries. The response contains this number. */
  readonly statCount: number;
  readonly variants: readonly VariantUsage[];
  readonly users: readonly FeatureUsers[];
  readonly environmentHashes: readonly string[];
}

/** A value of a metric. With a feature, it belongs to a series of the feature's variant. */
export interface MetricValue {
  readonly metric: string;
  readonly feature: string | undefined;
  readonly variant: string | undefined;
  readonly value: number;
  /** Time of the observation, or of the report if the observation has no time, Unix ms. */
  readonly time: number;
}

export interface MetricsReport extends ReportHead {
  /** Number of received `stats` entries. The response contains this number. */
  readonly statCount: number;
  readonly values: readonly MetricValue[];
}

export type Report = UsageReport | MetricsReport;

export type SentHead = Omit<ReportHead, 'notes'>;

/**
 * Returns the checked head of a report. An empty instance name counts as missing, and an invalid one is left out.
 * @param notes receives the note about the instance name
 * @throws {Refusal} of status 400 if the key or the environment is malformed. Their existence is not checked here.
 */
export function checkHead(sent: SentHead, notes: ReportNotes): SentHead {
  const { appKey, environment, instanceName } = sent;
  if (appKey === '' || appKey.length > 256) {
    throw new Refusal('invalid_body', 'appKey must be an application key of 1 to 256 characters');
  }
  checkName(environment, 'environment');
  if (!instanceName) return { ...sent, instanceName: undefined };
  if (isName(instanceName)) return sent;
  addNote(notes, 'name_dropped', 'instanceName');
  return { ...sent, instanceName: undefined };
}

/** Returns the path of the first entry with an invalid name. The path consists of names. */
export function invalidNameIn(report: Report): string | undefined {
  const entries =
    'variants' in report
      ? [...report.variants, ...report.users].map((entry) => [
          'stats',
          entry.feature,
          'variant' in entry && entry.variant,
        ])
      : report.values.map(({ metric, feature, variant }) => [metric, feature, variant]);
  const names = entries.map((path) => path.filter((name) => typeof name === 'string'));
  const invalid = names.find((path) => !path.every(isName));
  return invalid && pathText(invalid);
}

/** Number of array items per entry: two or three names, and then the counts, or the value and time. */
export const entryWidth = 5;

/** Number of array items per user: the feature, and both halves of the hash. */
export const userWidth = 3;

/** Index of a missing name. In rows of users, a missing feature name stands for the whole environment. */
export const noName = -1;

/**
 * A report in a few arrays, which are transferred between threads without a copy. Objects and texts would have to be
 * created again by the receiving thread, in one step.
 */
export interface PackedReport extends ReportHead {
  readonly kind: 'usage' | 'metrics';
  readonly appVersion: string | undefined;
  readonly statCount: number;
  /** Valid distinct names in UTF-8. */
  readonly names: Uint8Array;
  readonly nameEnds: Uint32Array;
  /** Rows: feature, variant, checks, used, viewed; or metric, feature, variant, value, time. Names are indexes. */
  readonly entries: Float64Array;
  readonly users: Float64Array;
  /** See `computeContentSum`. */
  readonly contentSum: readonly [number, number];
  /** Cost of counting the report, in entries. */
  readonly work: number;
}

/**
 * Optional field of an entry. Names are checked later: an invalid name has no series (see `EnvironmentSeries`). An
 * invalid value is `NaN`, and is left out with a note. The rest of its entry counts.
 */

type Maybe<T> = T | null | undefined;

interface UsageEntry {
  readonly feature: string;
  readonly enabledCount?: Maybe<number>;
  readonly disabledCount?: Maybe<number>;
  readonly usedCount?: Maybe<number>;
}

/** Counts of a variant while its entry is read, possibly before the name of the feature. */
export type VariantBuilder = { -readonly [Field in keyof VariantUsage]: VariantUsage[Field] };

export interface UsageBuilder {
  statCount: number;
  readonly variants: VariantBuilder[];
  readonly users: FeatureUsers[];
  readonly notes: ReportNotes;
}

export function newUsage(notes: ReportNotes): UsageBuilder {
  return { statCount: 0, variants: [], users: [], notes };
}

export function endUsage(
  head: SentHead,
  { notes, ...drafts }: UsageBuilder,
  rest: Pick<UsageReport, 'appVersion' | 'environmentHashes'>,
): UsageReport {
  return { ...head, notes, ...drafts, ...rest };
}

/**
 * Completes the variants of an entry. They are its `variantStats` or, if it has none, the legacy counts as variants
 * `enabled` and `disabled`. A named variant exists even if its counts are zero. A legacy variant exists only if its
 * count is not zero, because every legacy entry has both counts.
 *
 * `requestCount` is ignored. It counts the requests that checked a variant at least once, not the checks.
 *
 * @param first position of the entry's first variant in `variants`
 */
export function endEntry({ variants, statCount, notes }: UsageBuilder, first: number, entry: UsageEntry): void {
  const isLegacy = variants.length === first;
  if (isLegacy) addLegacyVariants(variants, entry);
  for (let at = first; at < variants.length; at += 1) {
    const builder = variants[at]!;
    builder.feature = entry.feature;
    if (!Number.isNaN(builder.checks + builder.used + builder.viewed)) continue;
    const path = isLegacy ? [] : ['variantStats', builder.variant];
    addNote(notes, 'value_dropped', 'stats', statCount - 1, ...path);
    builder.checks ||= 0;
    builder.used ||= 0;
    builder.viewed ||= 0;
  }
}

function addLegacyVariants(variants: VariantBuilder[], entry: UsageEntry): void {
  const { feature } = entry;
  const checks = entry.enabledCount ?? 0;
  const used = entry.usedCount ?? 0;
  const disabled = entry.disabledCount ?? 0;
  if (checks !== 0 || used !== 0) variants.push({ feature, variant: 'enabled', checks, used, viewed: 0 });
  if (disabled !== 0) variants.push({ feature, variant: 'disabled', checks: disabled, used: 0, viewed: 0 });
}

/** Returns the users of a feature, including all users who viewed the feature; an empty list without hashes. */
export function mergeUsers(
  feature: string,
  hashes: readonly string[],
  viewedHashes: readonly string[],
): readonly FeatureUsers[] {
  if (hashes.length === 0 && viewedHashes.length === 0) return [];
  return [{ feature, hashes: [...new Set([...hashes, ...viewedHashes])] }];
}

export interface MetricEntry {
  readonly metric: string;
  readonly enabledCount?: Maybe<number>;
  readonly disabledCount?: Maybe<number>;
  readonly feature?: Maybe<string>;
  readonly value?: Maybe<number>;
  readonly valueDisabled?: Maybe<number>;
}

export interface VariantValue {
  readonly variant: string;
  readonly value: number;
}

/** Rule for several values of a metric: sum them, or keep the last one. */
export type MergeMode = 'sum' | 'last';

/** Metric entries that were read so far. A value without a time gets the time of the report. */
export interface MetricsBuilder {
  readonly values: (Omit<MetricValue, 'time'> & { time: number | undefined })[];
  readonly notes: ReportNotes;
}

export function newMetrics(notes: ReportNotes): MetricsBuilder {
  return { values: [], notes };
}

export function endReport(head: SentHead, statCount: number, { values, notes }: MetricsBuilder): MetricsReport {
  for (const value of values) value.time ??= head.time;
  return { ...head, notes, statCount, values: values as readonly MetricValue[] };
}

/**
 * Adds the values of an entry, which can have its own time (Unix ms).
 *
 * An entry with a feature has one value per variant: `value` for `enabled`, `valueDisabled` for `disabled`, and
 * `variantValues` for any variant. `variantValues` takes precedence. An entry without a feature has only `value`.
 * Current SDKs send `variantValues` in its place, which are summed or, in an observation, counted one by one. A `value`
 * of zero counts as absent if there are other values, because protobuf cannot distinguish zero from absent. Old senders
 * send counts in place of values. Counts are read only from an entry without values.
 */
export function addValues(
  builder: MetricsBuilder,
  entry: MetricEntry,
  variantValues: readonly VariantValue[],
  merging: MergeMode,
  time?: number,
): void {
  const { metric } = entry;
  const feature = entry.feature ?? undefined;
  const before = builder.values.length;
  let dropped = false;
  const add = (variant: string | undefined, value: number) => {
    if (Number.isFinite(value)) builder.values.push({ metric, feature, variant, value, time });
    else dropped = true;
  };
  if (feature === undefined) addPlain(entry, variantValues, merging, add);
  else {
    for (const [variant, value] of valuesByVariant(entry, variantValues, merging)) add(variant, value);
  }
  if (dropped) addNote(builder.notes, 'value_dropped', ...getPath(entry));
  else if (builder.values.length === before) addNote(builder.notes, 'value_missing', ...getPath(entry));
}

function getPath({ metric, feature }: MetricEntry): readonly string[] {
  return feature == null ? [metric] : [metric, feature];
}

/** Adds one value of an entry. A value that is not finite is left out. */
type AddValue = (variant: string | undefined, value: number) => void;

function addPlain(entry: MetricEntry, variants: readonly VariantValue[], merging: MergeMode, add: AddValue): void {
  if (isThere(entry.value)) add(undefined, entry.value);
  else if (variants.length > 0) addVariants(variants, merging, add);
  else {
    const { enabled, disabled } = legacyCounts(entry) ?? {};
    const value = enabled === undefined ? entry.value : enabled + (disabled ?? 0);
    if (value != null) add(undefined, value);
  }
}

/** Adds the sum of the variant values of an entry without a feature. In an observation, adds each value. */
function addVariants(variants: readonly VariantValue[], merging: MergeMode, add: AddValue): void {
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

/** True if a value was certainly sent. Zero can stand for an absent value, and `NaN` stands for an invalid value. */
function isThere(value: Maybe<number>): value is number {
  return value != null && value !== 0;
}

function valuesByVariant(
  entry: MetricEntry,
  variants: readonly VariantValue[],
  merging: MergeMode,
): ReadonlyMap<string, number> {
  const legacy = variants.length === 0 ? legacyCounts(entry) : undefined;
  const enabled = legacy?.enabled ?? entry.value;
  const disabled = legacy?.disabled ?? entry.valueDisabled;
  const values = new Map<string, number>();
  // SDKs observe one variant at a time and write zero for the other variant, so this zero is not a value.
  const observesOne = merging === 'last' && isThere(enabled) !== isThere(disabled);
  const isAlone = variants.length === 0 && (enabled != null || disabled != null) && !observesOne;
  if (isThere(enabled) || isAlone) values.set('enabled', enabled ?? 0);
  if (isThere(disabled) || (disabled != null && !observesOne)) values.set('disabled', disabled);
  for (const { variant, value } of variants) values.set(variant, value);
  return values;
}

/** Returns the counts of a sender that predates values; `undefined` if there are values, or no counts. */
function legacyCounts({ enabledCount, disabledCount, value, valueDisabled }: MetricEntry) {
  if (isThere(value) || valueDisabled != null) return undefined;
  if (isThere(enabledCount) || isThere(disabledCount))
    return { enabled: enabledCount ?? 0, disabled: disabledCount ?? 0 };
  if (enabledCount == null && disabledCount == null) return undefined;
  return { enabled: 0, disabled: undefined };
}
