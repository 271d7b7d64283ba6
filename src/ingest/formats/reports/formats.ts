import { isName } from '../../../contract/names.ts';
import { decodeText } from '../../../http/body.ts';
import { hashReported } from '../../../storage/aggregate/user-hash.ts';
import { checkJsonEntries, createPeeker } from '../../json-text.ts';
import type { ClaimedSender } from '../../pipeline.ts';
import { computeContentSum } from './content-identity.ts';
import { decodeMetrics, decodeUsage } from './json.ts';
import { decodeMetricsReport, decodeUsageReport, peekMessage } from './proto.ts';
import {
  entryWidth,
  invalidNameIn,
  type MetricsReport,
  noName,
  type PackedReport,
  type Report,
  type ReportNotes,
  type UsageReport,
  userWidth,
} from './report.ts';

export interface ReportFormat<R extends Report> {
  readonly name: FormatName;
  /** @throws {Refusal} of status 400 or 413 with the error */
  decode(body: Uint8Array): R;
  /** Reads the claimed sender from the beginning of a report, even if the report cannot be decoded. */
  peek(beginning: Uint8Array): ClaimedSender;
}

export type FormatName = 'usageJson' | 'metricsJson' | 'usageMessage' | 'metricsMessage';

const peek = createPeeker('appKey', 'environment', 'instanceName');

function jsonText(body: Uint8Array): string {
  checkJsonEntries(body);
  return decodeText(body);
}

export const usageJson: ReportFormat<UsageReport> = {
  name: 'usageJson',
  decode: (body) => decodeUsage(jsonText(body)),
  peek,
};

export const metricsJson: ReportFormat<MetricsReport> = {
  name: 'metricsJson',
  decode: (body) => decodeMetrics(jsonText(body)),
  peek,
};

export const usageMessage: ReportFormat<UsageReport> = {
  name: 'usageMessage',
  decode: decodeUsageReport,
  peek: (beginning) => peekMessage(beginning, 6),
};

export const metricsMessage: ReportFormat<MetricsReport> = {
  name: 'metricsMessage',
  decode: decodeMetricsReport,
  peek: (beginning) => peekMessage(beginning, 7),
};

export const reportDecoders: Readonly<Record<FormatName, (body: Uint8Array) => PackedReport>> = {
  usageJson: (body) => packReport(usageJson.decode(body)),
  metricsJson: (body) => packReport(metricsJson.decode(body)),
  usageMessage: (body) => packReport(usageMessage.decode(body)),
  metricsMessage: (body) => packReport(metricsMessage.decode(body)),
};

const hashesPerEntry = 16;

export function packReport(report: Report): PackedReport {
  const names = new NameTable();
  const { appKey, environment, time, instanceName, processStartTime, notes, statCount } = report;
  const isUsage = 'variants' in report;
  const entries = isUsage ? usageEntries(report.variants, names) : valueEntries(report.values, names);
  const users = isUsage ? packUsers(report, names) : new Float64Array(0);
  const { bytes, ends, dropped } = names.end();
  const all: ReportNotes = new Map(notes);
  if (dropped && !all.has('name_dropped')) all.set('name_dropped', invalidNameIn(report));
  return {
    kind: isUsage ? 'usage' : 'metrics',
    appKey,
    environment,
    time,
    instanceName,
    processStartTime,
    statCount,
    notes: all,
    appVersion: isUsage ? report.appVersion : undefined,
    names: bytes,
    nameEnds: ends,
    entries,
    users,
    contentSum: computeContentSum(report),
    work: statCount + entries.length / entryWidth + Math.ceil(users.length / userWidth / hashesPerEntry),
  };
}

type UsageLike = Extract<Report, { variants: unknown }>;
type MetricsLike = Extract<Report, { values: unknown }>;

function usageEntries(variants: UsageLike['variants'], names: NameTable): Float64Array {
  const entries = new Rows(variants.length * entryWidth);
  for (const { feature, variant, checks, used, viewed } of variants) {
    const place = names.findPlaces(feature, variant);
    if (place !== undefined) entries.add(place[0]!, place[1]!, checks, used, viewed);
  }
  return entries.end();
}

function valueEntries(values: MetricsLike['values'], names: NameTable): Float64Array {
  const entries = new Rows(values.length * entryWidth);
  for (const { metric, feature, variant, value, time } of values) {
    const isPlain = feature === undefined || variant === undefined;
    const place = isPlain ? names.findPlaces(metric) : names.findPlaces(metric, feature, variant);
    if (place !== undefined) entries.add(place[0]!, place[1] ?? noName, place[2] ?? noName, value, time);
  }
  return entries.end();
}

function packUsers({ users, environmentHashes }: UsageLike, names: NameTable): Float64Array {
  const hashes = users.reduce((sum, each) => sum + each.hashes.length, environmentHashes.length);
  const rows = new Rows(hashes * userWidth);
  const add = (place: number, all: readonly string[]) => {
    for (const each of all) {
      const { high, low } = hashReported(each);
      rows.add(place, high, low);
    }
  };
  for (const each of users) {
    const place = names.findPlaces(each.feature);
    if (place !== undefined) add(place[0]!, each.hashes);
  }
  add(noName, environmentHashes);
  return rows.end();
}

class Rows {
  readonly #all: Float64Array;
  #length = 0;

  constructor(room: number) {
    this.#all = new Float64Array(room);
  }

  add(...numbers: readonly number[]): void {
    for (const each of numbers) {
      this.#all[this.#length] = each;
      this.#length += 1;
    }
  }

  end(): Float64Array {
    return this.#length === this.#all.length ? this.#all : this.#all.slice(0, this.#length);
  }
}

const encoder = new TextEncoder();

class NameTable {
  /** Index of each name; `noName` for an invalid name. */
  readonly #places = new Map<string, number>();
  #dropped = false;

  /** Returns the indexes of an entry's names; `undefined` if a name is invalid. */
  findPlaces(...names: readonly string[]): readonly number[] | undefined {
    const places = names.map((name) => this.#places.get(name) ?? this.#add(name));
    if (!places.includes(noName)) return places;
    this.#dropped = true;
    return undefined;
  }

  #add(name: string): number {
    const place = isName(name) ? this.#places.size : noName;
    this.#places.set(name, place);
    return place;
  }

  end() {
    const valid = [...this.#places.keys()];
    const ends = new Uint32Array(valid.length);
    const bytes = new Uint8Array(valid.reduce((sum, name) => sum + name.length * 3, 0));
    let length = 0;
    valid.forEach((name, at) => {
      if (this.#places.get(name) !== noName) length += encoder.encodeInto(name, bytes.subarray(length)).written;
      ends[at] = length;
    });
    return { bytes: bytes.slice(0, length), ends, dropped: this.#dropped };
  }
}
