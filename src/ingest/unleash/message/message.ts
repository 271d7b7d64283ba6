import { ApiError } from '../../../contract/errors.ts';
import { noVariant } from '../../../contract/unleash-checks.ts';
import { parseSentTime } from '../../../runtime/rfc3339.ts';
import { opensFlag, rowKind } from '../../../storage/lmdb/cumulative-rows.ts';
import { addNote, type Notes, type Path } from '../../omissions.ts';

/** Checks of a flag: of one variant, or all that found it enabled or disabled. */
export interface Checks {
  readonly feature: string;
  readonly variant: string;
  readonly checks: number;
  /** One of `rowKind`. The checks of a flag are consecutive; `opensFlag` is added to the first of them. */
  readonly kind: number;
}

/** What a message reports of one service in one environment at one time. */
export interface UnleashUsage {
  /** Name of the service; `undefined` for that of the message. */
  readonly appName: string | undefined;
  /** The environment as Unleash names it; `undefined` for that of the token. */
  readonly environment: string | undefined;
  /** Unix ms; `undefined` without a usable time. */
  readonly at: number | undefined;
  /** Where the message has it. */
  readonly path: Path;
  readonly checks: readonly Checks[];
}

export type Value = readonly [metric: string, value: number];

/** What a message counts. */
export interface UnleashContent {
  readonly usages: readonly UnleashUsage[];
  readonly counters: readonly Value[];
  readonly gauges: readonly Value[];
}

/** A message of an Unleash SDK or of Edge, without what cannot be counted. */
export interface UnleashMessage extends UnleashContent {
  /** Name of the service or of the Edge that sent it. */
  readonly appName: string | undefined;
  readonly instance: string | undefined;
  /** Id of one run of the SDK. Earlier SDKs lack it. */
  readonly connection: string | undefined;
  /** SDK and version, as `unleash-client-node 6.12.1`. */
  readonly sdk: string | undefined;
  /** As `node 22.1.0`. */
  readonly platform: string | undefined;
  /** Start of the bucket as sent. Some SDKs keep it until the bucket is confirmed, and add to the bucket. */
  readonly start: string | undefined;
  /** End of the bucket, Unix ms. */
  readonly stop: number | undefined;
  /** Interval of the sender in ms. */
  readonly interval: number | undefined;
  readonly notes: Notes;
}

/** What a message is about, by its route. */
export type UnleashKind = 'register' | 'metrics' | 'bulk';

/** What identifies a sender. SDKs send it in headers as well, and some only there. */
export type SdkHead = Pick<UnleashMessage, 'appName' | 'connection' | 'instance' | 'sdk' | 'interval'>;

/** Reads a parsed body. @throws {ApiError} `invalid_body` if it is not an object */
export function readMessage(kind: UnleashKind, body: unknown): UnleashMessage {
  if (!isFields(body)) throw new ApiError('invalid_body', 'The body must be an object');
  const notes: Notes = new Map();
  const sent = kind === 'metrics' ? body['bucket'] : undefined;
  const bucket = isFields(sent) ? sent : undefined;
  if (sent != null && bucket === undefined) addNote(notes, 'value_dropped', 'bucket');
  return {
    appName: textOf(body['appName']),
    instance: textOf(body['instanceId']),
    connection: textOf(body['connectionId']),
    sdk: sdkOf(textOf(body['sdkVersion'])),
    platform: platformOf(body),
    start: startOf(bucket),
    stop: timeOf(bucket?.['stop'], new Map(), []),
    interval: intervalOf(body),
    usages: kind === 'bulk' ? bulkUsages(body, notes) : bucketUsages(bucket, notes),
    ...(kind === 'register' ? { counters: [], gauges: [] } : impactValues(body['impactMetrics'], notes)),
    notes,
  };
}

/** Completes what identifies the sender. @param headers of the request */
export function withHeaders<Head extends SdkHead>(head: Head, headers: SdkHead): Head {
  return {
    ...head,
    appName: head.appName ?? headers.appName,
    connection: head.connection ?? headers.connection,
    instance: head.instance ?? headers.instance,
    sdk: head.sdk ?? sdkOf(headers.sdk),
    interval: head.interval ?? headers.interval,
  };
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The entries of a map. PHP encodes an empty one as a list. */
function entriesOf(value: unknown, notes: Notes, path: Path): [string, unknown][] {
  if (isFields(value)) return Object.entries(value);
  if (value != null && !(Array.isArray(value) && value.length === 0))
    addNote(notes, 'value_dropped', ...path);
  return [];
}

function listOf(value: unknown, notes: Notes, path: Path): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (value != null) addNote(notes, 'value_dropped', ...path);
  return [];
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** `unleash-client-node:6.12.1` as a name and a version. */
export function sdkOf(sdk: string | undefined): string | undefined {
  return sdk?.replace(/[:@/](?=v?\d)/, ' ');
}

function platformOf(body: Fields): string | undefined {
  const parts = [textOf(body['platformName']), textOf(body['platformVersion'])];
  return parts.filter((part) => part !== undefined).join(' ') || undefined;
}

function startOf(bucket: Fields | undefined): string | undefined {
  const start = bucket?.['start'];
  return start == null ? undefined : (textOf(start) ?? JSON.stringify(start));
}

/** The interval in a registration. The SDK for Go sends seconds. */
function intervalOf(body: Fields): number | undefined {
  const interval = body['interval'];
  if (typeof interval !== 'number' || !(interval > 0) || interval > maxCount) return undefined;
  return /\bgo\b/.test(textOf(body['sdkVersion']) ?? '') && interval < 1000 ? 1000 * interval : interval;
}

function bucketUsages(bucket: Fields | undefined, notes: Notes): readonly UnleashUsage[] {
  if (bucket === undefined) return [];
  const [start, stop] = (['start', 'stop'] as const).map((field) =>
    timeOf(bucket[field], notes, ['bucket', field]),
  );
  const isReversed = start !== undefined && stop !== undefined && stop < start;
  if (isReversed) addNote(notes, 'time_moved', 'bucket', 'stop');
  const at = isReversed ? undefined : (stop ?? start);
  const checks: Checks[] = [];
  const path = ['bucket', 'toggles'];
  for (const [flag, sent] of entriesOf(bucket['toggles'], notes, path))
    addChecks(checks, flag, sent, notes, [...path, flag]);
  return [{ appName: undefined, environment: undefined, at, path, checks }];
}

function bulkUsages(body: Fields, notes: Notes): readonly UnleashUsage[] {
  return listOf(body['metrics'], notes, ['metrics']).flatMap((entry, place) => {
    const path = ['metrics', place];
    const feature = isFields(entry) ? textOf(entry['featureName']) : undefined;
    if (!isFields(entry) || feature === undefined) {
      addNote(notes, 'name_dropped', ...path);
      return [];
    }
    const at = timeOf(entry['timestamp'], notes, [...path, 'timestamp']);
    const [appName, environment] = [textOf(entry['appName']), textOf(entry['environment'])];
    const checks: Checks[] = [];
    addChecks(checks, feature, entry, notes, path);
    return [{ appName, environment, at, path, checks }];
  });
}

/** Unix ms of a time; `undefined` if it is missing or cannot be read. */
function timeOf(sent: unknown, notes: Notes, path: Path): number | undefined {
  if (sent == null) return undefined;
  const time = typeof sent === 'string' ? parseSentTime(sent) : undefined;
  if (time === undefined) addNote(notes, 'value_dropped', ...path);
  else if (!time.hasZone) addNote(notes, 'time_zone_missing', ...path);
  return time?.at;
}

/** Adds the checks of a flag: all that found it enabled and disabled, and those of each variant, which are part of these. */
function addChecks(all: Checks[], feature: string, sent: unknown, notes: Notes, path: Path): void {
  if (!isFields(sent)) {
    addNote(notes, 'value_dropped', ...path);
    return;
  }
  let opens = opensFlag;
  const add = (variant: string, checks: number, kind: number) => {
    if (checks === 0) return;
    all.push({ feature, variant, checks, kind: kind + opens });
    opens = 0;
  };
  add('enabled', countOf(sent['yes'], notes, path, 'yes'), rowKind.yes);
  add(noVariant, countOf(sent['no'], notes, path, 'no'), rowKind.no);
  const inside = [...path, 'variants'];
  for (const [variant, count] of entriesOf(sent['variants'], notes, inside))
    if (variant !== noVariant) add(variant, countOf(count, notes, inside, variant), rowKind.variant);
}

const maxCount = 2_147_483_647;

/** A count; 0 for one that is missing or invalid. */
function countOf(sent: unknown, notes: Notes, path: Path, field: string): number {
  if (sent == null) return 0;
  if (Number.isInteger(sent) && (sent as number) >= 0 && (sent as number) <= maxCount) return sent as number;
  addNote(notes, 'value_dropped', ...path, field);
  return 0;
}

/** Values of `impactMetrics`. Labels are ignored. Of a histogram, the count and the sum are counters. */
function impactValues(sent: unknown, notes: Notes): { counters: Value[]; gauges: Value[] } {
  const [counters, gauges]: [Value[], Value[]] = [[], []];
  for (const [place, metric] of listOf(sent, notes, ['impactMetrics']).entries()) {
    const path = ['impactMetrics', place];
    const name = isFields(metric) ? textOf(metric['name']) : undefined;
    if (!isFields(metric) || name === undefined) {
      addNote(notes, 'name_dropped', ...path);
      continue;
    }
    const isHistogram = metric['type'] === 'histogram';
    if (isHistogram) addNote(notes, 'histogram_reduced', ...path);
    const inside = [...path, 'samples'];
    for (const [at, sample] of listOf(metric['samples'], notes, inside).entries()) {
      const read = (field: string) =>
        numberOf(isFields(sample) ? sample[field] : undefined, notes, [...inside, at, field]);
      if (isHistogram) {
        const [count, sum] = [read('count'), read('sum')];
        if (count !== undefined) counters.push([`${name}_count`, count]);
        if (sum !== undefined) counters.push([`${name}_sum`, sum]);
      } else {
        const value = read('value');
        if (value !== undefined) (metric['type'] === 'gauge' ? gauges : counters).push([name, value]);
      }
    }
  }
  return { counters, gauges };
}

function numberOf(sent: unknown, notes: Notes, path: Path): number | undefined {
  if (typeof sent === 'number' && Number.isFinite(sent)) return sent;
  addNote(notes, 'value_dropped', ...path);
  return undefined;
}
