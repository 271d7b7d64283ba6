import Type, { type Static } from 'typebox';
import type { Validator } from 'typebox/compile';
import { Refusal } from '../../../contract/errors.ts';
import { parseJson } from '../../../http/body.ts';
import { type FaultRows, shapeError } from '../../../http/json-body.ts';
import { compiled } from '../../../runtime/compiled.ts';
import { parseSentTime } from '../../../runtime/rfc3339.ts';
import { canonicalInteger, quoteLargeNumbers } from '../../json-text.ts';
import { addNote, describePlace, omitInvalid, type Path, pickRequired } from '../../omissions.ts';
import { environmentNamed, hashed, sentName, sentTime } from '../../sender-schemas.ts';
import {
  addValues,
  checkHead,
  endEntry,
  endReport,
  endUsage,
  type MergeMode,
  type MetricsBuilder,
  type MetricsReport,
  mergeUsers,
  newMetrics,
  newUsage,
  type ReportHead,
  type ReportNotes,
  type UsageBuilder,
  type UsageReport,
} from './report.ts';

/**
 * Schema of an optional field of usage and metrics reports in JSON. The value can be `null`, because serializers write
 * `null` for missing fields. PHP encodes a name that looks like an integer as a number, and an empty map as a list.
 */

const nullable = <T>(type: string | readonly string[], options: object = {}) =>
  Type.Optional(Type.Unsafe<T | null>({ type: [type, 'null'].flat(), ...options }));

const counted = { minimum: 0, maximum: 2_147_483_647 };

/** Schema of a count. `NaN` stands for an invalid count. */
const count = () => nullable<number>('integer', counted);
/** Schema of an ignored count, which can have any value. */
const unreadCount = () =>
  Type.Optional(Type.Unsafe<unknown>({ documented: { type: ['integer', 'null'], ...counted } }));
/** Schema of a number. `NaN` stands for an invalid number. */
const number = () => nullable<number>('number');
const text = (options: object = {}) => nullable<string>('string', options);

const listOf = <T extends Type.TSchema>(items: T, options: object = {}) =>
  nullable<readonly Static<T>[]>('array', { items, ...options });

/** Schema of a map. The pattern is empty because TypeBox's own pattern does not match every name: see `Named`. */
const mapOf = <T extends Type.TSchema>(values: T, options: object = {}) =>
  nullable<Readonly<Record<string, Static<T>>>>(['object', 'array'], {
    patternProperties: { '': values },
    items: {},
    maxItems: 0,
    ...options,
  });

type Name = string | number;

const name = (options: object = sentName) =>
  Type.Unsafe<Name | null | undefined>({ type: ['string', 'number'], ...options });
const optionalName = (options: object = sentName) => nullable<Name>(['string', 'number'], options);

/** Returns the name of an entry as a text. A missing name becomes the empty text, which is not a valid name. */
function readName(sent: Name | null | undefined): string {
  return sent == null ? '' : String(sent);
}

const headFields = {
  appKey: Type.String({ description: 'Application key of any type.', documented: { minLength: 1, maxLength: 256 } }),
  environment: Type.Unsafe<Name>({
    type: ['string', 'number'],
    description: 'Name of the environment.',
    ...environmentNamed,
  }),
  time: Type.String({ description: 'Time of the report.', ...sentTime }),
  instanceName: optionalName({
    description: 'Name of the reporting process. An empty name counts as missing.',
    ...sentName,
  }),
  processStartTime: text({ description: 'Start time of that process.', ...sentTime }),
};

/** Returns the checked fields of `headFields`. @param notes receives notes @throws {Refusal} of status 400 */
function readHead(body: Static<Type.TObject<typeof headFields>>, notes: ReportNotes): Omit<ReportHead, 'notes'> {
  const { appKey, environment, instanceName, processStartTime } = body;
  const time = readTime(body.time, notes, ['time']);
  if (time === undefined) throw new Refusal('invalid_time', 'time must be like 2026-01-31T12:00:00Z');
  const head = {
    appKey,
    environment: String(environment),
    time,
    instanceName: instanceName == null ? undefined : String(instanceName),
    processStartTime: readTime(processStartTime, notes, ['processStartTime']),
  };
  return checkHead(head, notes);
}

interface SentReport<T extends Type.TSchema> {
  readonly body: Static<T>;
  readonly notes: ReportNotes;
}

/**
 * Reads a body by its schema, without the values that cannot be counted (see `omitInvalid`). In names and hashes,
 * numbers that a double cannot represent become strings, after the schema has checked them as numbers.
 * @param checkSent refuses a body for reasons that the schema cannot express
 * @throws {Refusal} of status 400 if the body is not JSON, lacks a required field, or has a value of a wrong type
 */
function readReport<T extends Type.TObject>(
  schema: T,
  checker: Validator<Type.TProperties, T>,
  json: string,
  checkSent: (body: Fields) => void = () => {},
): SentReport<T> {
  const body = parseJson(json);
  const isRight = checker.Check(body);
  if (!isRight) checkRequired(schema, checker, body);
  const exact = /\d{16}/.test(json) ? JSON.parse(quoteLargeNumbers(json)) : body;
  const omitted = isRight ? undefined : omitInvalid(schema, body as object, exact);
  checkSent(body as Fields);
  const notes: ReportNotes = new Map();
  if (omitted !== undefined) notes.set('value_dropped', omitted);
  return { body: exact as Static<T>, notes };
}

function checkRequired(schema: Type.TObject, checker: Validator, body: unknown): void {
  const required = pickRequired(schema, body);
  if (!checker.Check(required)) throw shapeError(checker.Errors(required), { rows, describePlace });
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns a sent time in Unix ms. Leaves out an invalid time. @param notes receives a note @param path of the time */
function readTime(sent: string | null | undefined, notes: ReportNotes, path: Path): number | undefined {
  if (sent == null) return undefined;
  const time = parseSentTime(sent);
  if (time === undefined) addNote(notes, 'value_dropped', ...path);
  else if (!time.hasZone) addNote(notes, 'time_zone_missing', ...path);
  return time?.at;
}

const rows: FaultRows = [[/\/time$/, 'invalid_time']];

/** Schema of hashes. A hash can have more digits than a double holds, so strings are accepted, too. */
const hashes = () => listOf(Type.Unsafe<number | string>({ type: ['integer', 'string'], ...hashed }));

interface SentCounts {
  readonly checkCount?: number | null;
  readonly usedCount?: number | null;
  readonly viewedCount?: number | null;
}

const VariantStats = Type.Unsafe<SentCounts | null>({
  type: ['object', 'array', 'null'],
  properties: { checkCount: count(), requestCount: unreadCount(), usedCount: count(), viewedCount: count() },
  items: {},
  maxItems: 0,
});

const UsageStat = Type.Object({
  feature: name(),
  enabledCount: count(),
  disabledCount: count(),
  uniqueContextIdentifierEnabledCount: unreadCount(),
  uniqueContextIdentifierDisabledCount: unreadCount(),
  uniqueRequestEnabledCount: unreadCount(),
  uniqueRequestDisabledCount: unreadCount(),
  usedCount: count(),
  uniqueUsersUsedCount: unreadCount(),
  uniqueUserHashes: hashes(),
  variantStats: mapOf(VariantStats, {
    description: 'Counts by variant. Without variants, the counts above apply to `enabled` and `disabled`.',
  }),
  uniqueViewedUserHashes: hashes(),
});

/** Schema of a usage report as JSON: the fields of the protobuf message `FeatureStat`. */
export const UsageReportSchema = Type.Object(
  {
    ...headFields,
    stats: Type.Unsafe<readonly Static<typeof UsageStat>[] | null>({
      type: ['array', 'null'],
      items: UsageStat,
      description: 'Required, but may be empty. A report with a misspelt field name is therefore refused.',
    }),
    totalUniqueUsers: unreadCount(),
    appVersion: optionalName({ description: 'Version of the reporting program.' }),
    uniqueUserHashes: hashes(),
    definitionCacheHits: unreadCount(),
    definitionCacheMisses: unreadCount(),
  },
  { component: 'UsageReport' },
);

type UsageBody = Static<typeof UsageReportSchema>;

const usageChecker = compiled(UsageReportSchema);

export function decodeUsage(json: string): UsageReport {
  const { body, notes } = readReport(UsageReportSchema, usageChecker(), json);
  const head = readHead(body, notes);
  const builder = newUsage(notes);
  for (const stat of body.stats ?? []) readStat(stat, builder);
  const rest = {
    appVersion: body.appVersion == null ? undefined : String(body.appVersion),
    environmentHashes: [...new Set(readHashes(body.uniqueUserHashes, notes, ['uniqueUserHashes']))],
  };
  return endUsage(head, builder, rest);
}

function readStat(stat: Static<typeof UsageStat>, builder: UsageBuilder): void {
  const { variants, users, notes } = builder;
  const at = builder.statCount;
  builder.statCount += 1;
  const first = variants.length;
  for (const [variant, counts] of Object.entries(stat.variantStats ?? {})) {
    const { checkCount, usedCount, viewedCount } = counts ?? {};
    variants.push({ feature: '', variant, checks: checkCount ?? 0, used: usedCount ?? 0, viewed: viewedCount ?? 0 });
  }
  const feature = readName(stat.feature);
  const { enabledCount, disabledCount, usedCount } = stat;
  endEntry(builder, first, { feature, enabledCount, disabledCount, usedCount });
  const hashesIn = (field: 'uniqueUserHashes' | 'uniqueViewedUserHashes') =>
    readHashes(stat[field], notes, ['stats', at, field]);
  users.push(...mergeUsers(feature, hashesIn('uniqueUserHashes'), hashesIn('uniqueViewedUserHashes')));
}

/** Returns the hashes as canonical integers. Leaves out hashes that are not integers. @param path of the list */
function readHashes(sent: UsageBody['uniqueUserHashes'], notes: ReportNotes, path: Path): string[] {
  const hashes: string[] = [];
  for (const [at, hash] of (sent ?? []).entries()) {
    const integer = Number.isSafeInteger(hash) ? String(hash) : canonicalInteger(String(hash));
    if (integer === undefined) addNote(notes, 'value_dropped', ...path, at);
    else hashes.push(integer);
  }
  return hashes;
}

const Metric = Type.Object({
  metric: name(),
  enabledCount: count(),
  disabledCount: count(),
  feature: optionalName(),
  value: number(),
  valueDisabled: number(),
  variantValues: mapOf(Type.Number(), {
    description:
      'Values by variant of the feature. Without a feature and `value`, they are summed; in an observation each of them counts.',
  }),
});

const Observation = Type.Object({ ...Metric.properties, time: text(sentTime) });

const lists = ['stats', 'counters', 'observations'] as const;

/** Schema of a metrics report as JSON: the fields of the protobuf message `MetricStat`. */
export const MetricsReportSchema = Type.Object(
  {
    ...headFields,
    stats: listOf(Metric, { description: 'Values to sum.' }),
    counters: listOf(Metric, { description: 'Values to sum.' }),
    observations: listOf(Observation, { description: 'Values. The last of each series is kept.' }),
  },
  { component: 'MetricsReport', documented: { anyOf: lists.map((list) => ({ required: [list] })) } },
);

const metricsChecker = compiled(MetricsReportSchema);

export function decodeMetrics(json: string): MetricsReport {
  const { body, notes } = readReport(MetricsReportSchema, metricsChecker(), json, checkLists);
  const head = readHead(body, notes);
  const builder = newMetrics(notes);
  const stats = body.stats ?? [];
  for (const entry of stats) readValues(builder, entry, 'sum');
  for (const entry of body.counters ?? []) readValues(builder, entry, 'sum');
  for (const [at, entry] of (body.observations ?? []).entries())
    readValues(builder, entry, 'last', readTime(entry.time, notes, ['observations', at, 'time']));
  return endReport(head, stats.length, builder);
}

/**
 * Refuses a body that contains no list, for example because a field is misspelt.
 * @throws {Refusal} `invalid_body`
 */
function checkLists(body: Fields): void {
  if (lists.some((list) => body[list] === null || Array.isArray(body[list]))) return;
  throw new Refusal('invalid_body', `The body must have at least one of ${lists.join(', ')}`);
}

/** Adds the values of an entry. Large numbers in the entry are texts (see `readReport`). */
function readValues(builder: MetricsBuilder, entry: Static<typeof Metric>, merging: MergeMode, time?: number): void {
  const { metric, feature, value, valueDisabled, variantValues } = entry;
  const numbers = {
    ...entry,
    metric: readName(metric),
    feature: feature == null ? undefined : String(feature),
    value: value == null ? undefined : Number(value),
    valueDisabled: valueDisabled == null ? undefined : Number(valueDisabled),
  };
  const variants = Object.entries(variantValues ?? {}).map(([variant, each]) => ({ variant, value: Number(each) }));
  addValues(builder, numbers, variants, merging, time);
}
