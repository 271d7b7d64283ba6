import { Packr } from 'msgpackr';
import { Refusal } from '../../../contract/errors.ts';
import { noVariant } from '../../../contract/unleash-checks.ts';
import { decodeText, parseJson } from '../../../http/body.ts';
import { parseSentTime } from '../../../runtime/rfc3339.ts';
import { opensFeature, rowKind } from '../../../storage/lmdb/cumulative.ts';
import { checkJsonEntries } from '../../json-text.ts';
import { addNote, type Notes, type Path } from '../../omissions.ts';

/** Checks of a flag: checks of one variant, or all checks that found the flag enabled or disabled. */
export interface Checks {
  readonly feature: string;
  readonly variant: string;
  readonly checks: number;
  /** One of `rowKind`. The checks of a flag are consecutive; the kind of the first check includes `opensFeature`. */
  readonly kind: number;
}

/** Checks reported by one service in one environment at one time. */
export interface UnleashUsage {
  /** Name of the service; `undefined` if it is the service of the message. */
  readonly appName: string | undefined;
  /** Name of the environment in Unleash; `undefined` if it is the environment of the token. */
  readonly environment: string | undefined;
  /** Time in Unix ms; `undefined` without a usable time. */
  readonly at: number | undefined;
  /** Path of the usage in the message. */
  readonly path: Path;
  readonly checks: readonly Checks[];
}

type Value = readonly [metric: string, value: number];

/** Counted content of a message. */
export interface UnleashContent {
  readonly usages: readonly UnleashUsage[];
  readonly counters: readonly Value[];
  readonly gauges: readonly Value[];
}

export interface UnleashMessage extends UnleashContent {
  /** Name of the service or of the Edge that sent the message. */
  readonly appName: string | undefined;
  readonly instance: string | undefined;
  /** Id of one run of the SDK. Earlier SDKs lack it. */
  readonly connection: string | undefined;
  /** SDK and version, such as `unleash-client-node 6.12.1`. */
  readonly sdk: string | undefined;
  /** Platform and version, such as `node 22.1.0`. */
  readonly platform: string | undefined;
  /** Start of the bucket as sent. Some SDKs keep the start and add to the bucket until the server confirms it. */
  readonly start: string | undefined;
  /** End of the bucket, Unix ms. */
  readonly stop: number | undefined;
  /** Interval of the sender in ms. */
  readonly interval: number | undefined;
  readonly notes: Notes;
}

/** Kind of a message, by its route. */
export type UnleashKind = 'register' | 'metrics' | 'bulk';

/** Fields that identify a sender. SDKs also send these fields in headers, and some SDKs send them only in headers. */
export type SdkHead = Pick<UnleashMessage, 'appName' | 'connection' | 'instance' | 'sdk' | 'interval'>;

/** @throws {Refusal} `invalid_body` if the body is not an object */
export function readMessage(kind: UnleashKind, body: unknown): UnleashMessage {
  if (!isFields(body)) throw new Refusal('invalid_body', 'The body must be an object');
  const notes: Notes = new Map();
  const sent = kind === 'metrics' ? body['bucket'] : undefined;
  const bucket = isFields(sent) ? sent : undefined;
  if (sent != null && bucket === undefined) addNote(notes, 'value_dropped', 'bucket');
  const start = timeIn(bucket, 'start', notes, 'bucket');
  const stop = timeIn(bucket, 'stop', notes, 'bucket');
  return {
    appName: readText(body['appName']),
    instance: readText(body['instanceId']),
    connection: readText(body['connectionId']),
    sdk: parseSdk(readText(body['sdkVersion'])),
    platform: readPlatform(body),
    start: readStart(bucket),
    stop,
    interval: readInterval(body),
    usages: kind === 'bulk' ? bulkUsages(body, notes) : bucketUsages(bucket, start, stop, notes),
    ...(kind === 'register' ? { counters: [], gauges: [] } : impactValues(body['impactMetrics'], notes)),
    notes,
  };
}

/** Fills missing fields from the headers, because some SDKs identify themselves only in headers. */
export function withHeaders<Head extends SdkHead>(head: Head, headers: SdkHead): Head {
  return {
    ...head,
    appName: head.appName ?? headers.appName,
    connection: head.connection ?? headers.connection,
    instance: head.instance ?? headers.instance,
    sdk: head.sdk ?? parseSdk(headers.sdk),
    interval: head.interval ?? headers.interval,
  };
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const noFields: Fields = {};

/** Returns the map in a field. PHP encodes an empty map as a list. */
function mapIn(fields: Fields, field: string, notes: Notes, ...path: Path): Fields {
  const value = fields[field];
  if (isFields(value)) return value;
  if (value != null && !(Array.isArray(value) && value.length === 0)) addNote(notes, 'value_dropped', ...path, field);
  return noFields;
}

function readList(value: unknown, notes: Notes, path: Path): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (value != null) addNote(notes, 'value_dropped', ...path);
  return [];
}

function readText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Separates name and version by a space: `unleash-client-node:6.12.1` becomes `unleash-client-node 6.12.1`. */
export function parseSdk(sdk: string | undefined): string | undefined {
  return sdk?.replace(/[:@/](?=v?\d)/, ' ');
}

function readPlatform(body: Fields): string | undefined {
  const parts = [readText(body['platformName']), readText(body['platformVersion'])];
  return parts.filter((part) => part !== undefined).join(' ') || undefined;
}

function readStart(bucket: Fields | undefined): string | undefined {
  const start = bucket?.['start'];
  return start == null ? undefined : (readText(start) ?? JSON.stringify(start));
}

/** Reads the interval of a registration in ms. The SDK for Go sends seconds. */
function readInterval(body: Fields): number | undefined {
  const interval = body['interval'];
  if (typeof interval !== 'number' || !(interval > 0) || interval > maxCount) return undefined;
  return /\bgo\b/.test(readText(body['sdkVersion']) ?? '') && interval < 1000 ? 1000 * interval : interval;
}

function bucketUsages(
  bucket: Fields | undefined,
  start: number | undefined,
  stop: number | undefined,
  notes: Notes,
): readonly UnleashUsage[] {
  if (bucket === undefined) return [];
  const isReversed = start !== undefined && stop !== undefined && stop < start;
  if (isReversed) addNote(notes, 'time_moved', 'bucket', 'stop');
  const at = isReversed ? undefined : (stop ?? start);
  const checks: Checks[] = [];
  const path = ['bucket', 'toggles'];
  const toggles = mapIn(bucket, 'toggles', notes, 'bucket');
  for (const feature of Object.keys(toggles)) addChecks(checks, feature, toggles[feature], notes, path, feature);
  return [{ appName: undefined, environment: undefined, at, path, checks }];
}

function bulkUsages(body: Fields, notes: Notes): readonly UnleashUsage[] {
  return readList(body['metrics'], notes, ['metrics']).flatMap((entry, place) => {
    const path = ['metrics', place];
    const feature = isFields(entry) ? readText(entry['featureName']) : undefined;
    if (!isFields(entry) || feature === undefined) {
      addNote(notes, 'name_dropped', ...path);
      return [];
    }
    const at = timeIn(entry, 'timestamp', notes, ...path);
    const appName = readText(entry['appName']);
    const environment = readText(entry['environment']);
    const checks: Checks[] = [];
    addChecks(checks, feature, entry, notes, ['metrics'], place);
    return [{ appName, environment, at, path, checks }];
  });
}

/** Returns the time in a field in Unix ms; `undefined` if it is missing or cannot be read. */
function timeIn(fields: Fields | undefined, field: string, notes: Notes, ...path: Path): number | undefined {
  const sent = fields?.[field];
  if (sent == null) return undefined;
  const time = typeof sent === 'string' ? parseSentTime(sent) : undefined;
  if (time === undefined) addNote(notes, 'value_dropped', ...path, field);
  else if (!time.hasZone) addNote(notes, 'time_zone_missing', ...path, field);
  return time?.at;
}

/**
 * Adds the checks of a flag: the checks that found the flag enabled, the checks that found it disabled, and the checks
 * of each variant. The first two include the checks of all variants. Paths are joined only for notes, because a message
 * has many flags.
 */
function addChecks(
  all: Checks[],
  feature: string,
  sent: unknown,
  notes: Notes,
  path: Path,
  step: string | number,
): void {
  if (!isFields(sent)) {
    addNote(notes, 'value_dropped', ...path, step);
    return;
  }
  const first = all.length;
  const add = (variant: string, checks: number, kind: number) => {
    if (checks > 0) all.push({ feature, variant, checks, kind: all.length === first ? kind + opensFeature : kind });
  };
  const { yes = 0, no = 0 } = sent;
  if (isCount(yes)) add('enabled', yes, rowKind.yes);
  else if (yes !== null) addNote(notes, 'value_dropped', ...path, step, 'yes');
  if (isCount(no)) add(noVariant, no, rowKind.no);
  else if (no !== null) addNote(notes, 'value_dropped', ...path, step, 'no');
  const ofVariants = sent['variants'];
  const variants = isFields(ofVariants) ? ofVariants : mapIn(sent, 'variants', notes, ...path, step);
  for (const variant of Object.keys(variants)) {
    if (variant === noVariant) continue;
    const count = variants[variant];
    if (isCount(count)) add(variant, count, rowKind.variant);
    else if (count != null) addNote(notes, 'value_dropped', ...path, step, 'variants', variant);
  }
}

const maxCount = 2_147_483_647;

function isCount(sent: unknown): sent is number {
  return Number.isInteger(sent) && (sent as number) >= 0 && (sent as number) <= maxCount;
}

/** Reads the values of `impactMetrics`. Labels are ignored. The count and the sum of a histogram become counters. */
function impactValues(sent: unknown, notes: Notes): { counters: Value[]; gauges: Value[] } {
  const counters: Value[] = [];
  const gauges: Value[] = [];
  for (const [place, metric] of readList(sent, notes, ['impactMetrics']).entries()) {
    const path = ['impactMetrics', place];
    const name = isFields(metric) ? readText(metric['name']) : undefined;
    if (!isFields(metric) || name === undefined) {
      addNote(notes, 'name_dropped', ...path);
      continue;
    }
    const isHistogram = metric['type'] === 'histogram';
    if (isHistogram) addNote(notes, 'histogram_reduced', ...path);
    const inside = [...path, 'samples'];
    for (const [at, sample] of readList(metric['samples'], notes, inside).entries()) {
      const read = (field: string) =>
        readNumber(isFields(sample) ? sample[field] : undefined, notes, [...inside, at, field]);
      if (isHistogram) {
        const count = read('count');
        const sum = read('sum');
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

function readNumber(sent: unknown, notes: Notes, path: Path): number | undefined {
  if (typeof sent === 'number' && Number.isFinite(sent)) return sent;
  addNote(notes, 'value_dropped', ...path);
  return undefined;
}

/** A large message whose content is packed in chunks, each of which is counted in a step. */
export interface PackedMessage {
  readonly head: Omit<UnleashMessage, keyof UnleashContent>;
  readonly chunks: readonly Uint8Array[];
  /** Number of checks and values in the message. */
  readonly entries: number;
}

export type UnleashFormat = `unleash-${UnleashKind}`;

export function decodeUnleash(kind: UnleashKind, body: Uint8Array): UnleashMessage {
  checkJsonEntries(body);
  return readMessage(kind, parseJson(decodeText(body)));
}

export const unleashDecoders: Readonly<Record<UnleashFormat, (body: Uint8Array) => PackedMessage>> = {
  'unleash-metrics': (body) => packMessage(decodeUnleash('metrics', body)),
  'unleash-bulk': (body) => packMessage(decodeUnleash('bulk', body)),
  'unleash-register': (body) => packMessage(decodeUnleash('register', body)),
};

/** Entries per chunk: about a millisecond of work. */
const entriesPerChunk = 1000;

const packr = new Packr({ useRecords: false });

export function packMessage({ usages, counters, gauges, ...head }: UnleashMessage): PackedMessage {
  const chunks = [...splitContent({ usages, counters, gauges })];
  const entries = usages.reduce((sum, { checks }) => sum + 1 + checks.length, counters.length + gauges.length);
  return { head, chunks: chunks.map((chunk) => new Uint8Array(packr.pack(chunk))), entries };
}

export function unpackChunk(chunk: Uint8Array): UnleashContent {
  return packr.unpack(chunk);
}

function* splitContent({ usages, counters, gauges }: UnleashContent): Generator<UnleashContent> {
  const nothing = { usages: [], counters: [], gauges: [] };
  let open: UnleashContent['usages'][number][] = [];
  let entries = 0;
  for (const usage of usages) {
    for (let from = 0; from === 0 || from < usage.checks.length; from += entriesPerChunk) {
      const checks = usage.checks.slice(from, from + entriesPerChunk);
      open.push({ ...usage, checks });
      entries += 1 + checks.length;
      if (entries < entriesPerChunk) continue;
      yield { ...nothing, usages: open };
      open = [];
      entries = 0;
    }
  }
  if (open.length > 0) yield { ...nothing, usages: open };
  for (const kind of ['counters', 'gauges'] as const) {
    const values = kind === 'counters' ? counters : gauges;
    for (let from = 0; from < values.length; from += entriesPerChunk)
      yield { ...nothing, [kind]: values.slice(from, from + entriesPerChunk) };
  }
}
