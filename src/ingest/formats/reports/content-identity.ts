import { isFinerThanMs } from '../../../runtime/rfc3339.ts';
import { avalanche, type Hash64, hashReported, murmur3, rotate } from '../../../storage/aggregate/user-hash.ts';
import { createIdentity, type MessageIdentity, type MessageSender } from '../../count-once.ts';
import type { MetricsReport, PackedReport, Report, ReportHead, UsageReport } from './report.ts';

/** Kinds of rows in a message. */
const usageHead = 1;
const metricsHead = 2;
const variantRow = 3;
const userRow = 4;
const valueRow = 5;

/**
 * Returns the identity of a report by its content, for reports without an `Idempotency-Key`. The identity is unique
 * only if `isDistinct` returns true.
 */
export function identityOfReport(sender: MessageSender, report: Report | PackedReport): MessageIdentity {
  const { instanceName, processStartTime, time, statCount } = report;
  const rows = new RowSum();
  const condensed = 'contentSum' in report;
  const isUsage = condensed ? report.kind === 'usage' : 'variants' in report;
  rows.begin(isUsage ? usageHead : metricsHead);
  rows.word(sender.environment.number);
  rows.name(instanceName);
  if (processStartTime === undefined) rows.name(undefined);
  else rows.number(microseconds(processStartTime));
  rows.number(microseconds(time));
  rows.word(statCount);
  rows.end();
  if (condensed) rows.add(report.contentSum);
  else addContent(rows, report);
  return createIdentity(sender, ...rows.total);
}

export function computeContentSum(report: Report): readonly [number, number] {
  const rows = new RowSum();
  addContent(rows, report);
  return rows.total;
}

function addContent(rows: RowSum, report: Report): void {
  if ('variants' in report) addUsage(rows, report);
  else addValues(rows, report);
}

/**
 * True if the content distinguishes the report from all other reports of its sender. This requires a time finer than a
 * millisecond, because forked processes can send equal reports in one millisecond.
 */
export function isDistinct({ time }: ReportHead): boolean {
  return isFinerThanMs(time);
}

function addUsage(rows: RowSum, { variants, users, environmentHashes }: UsageReport): void {
  for (const { feature, variant, checks, used, viewed } of variants) {
    rows.begin(variantRow);
    rows.name(feature);
    rows.name(variant);
    rows.word(checks);
    rows.word(used);
    rows.word(viewed);
    rows.end();
  }
  for (const { feature, hashes } of users) addUsers(rows, feature, hashes);
  addUsers(rows, undefined, environmentHashes);
}

function addUsers(rows: RowSum, feature: string | undefined, hashes: readonly string[]): void {
  for (const each of hashes) {
    rows.begin(userRow);
    rows.name(feature);
    rows.hash(hashReported(each));
    rows.end();
  }
}

function addValues(rows: RowSum, { values }: MetricsReport): void {
  for (const { metric, feature, variant, value, time } of values) {
    rows.begin(valueRow);
    rows.name(metric);
    rows.name(feature);
    rows.name(variant);
    rows.number(value);
    rows.number(microseconds(time));
    rows.end();
  }
}

/** Converts a time in ms to whole microseconds. */
function microseconds(ms: number): number {
  return Math.round(ms * 1000);
}

const encoder = new TextEncoder();
/** UTF-8 length of the longest valid name. Longer texts are truncated. */
const longest = 256;
const scratch = new Uint8Array(longest);

/** Cached hashes of names, because the same names recur. */
const hashes = new Map<string, Hash64>();
const maxHashes = 8192;

/** Hash of a missing name. */
const noName: Hash64 = { high: 0, low: 1 };

const doubles = new Float64Array(1);
const words = new Uint32Array(doubles.buffer);

/**
 * A 64-bit hash of rows: the sum of the hashes of the rows, which does not depend on their order. Sorting and a
 * cryptographic hash would take several times as long as decoding. A sender that forges equal sums harms only itself.
 */
export class RowSum {
  #sumA = 0;
  #sumB = 0;
  #a = 0;
  #b = 0;

  /** Starts a row. Rows of different kinds are never equal. */
  begin(kind: number): void {
    this.#a = kind;
    this.#b = kind;
  }

  /** Adds a name; `undefined` for a missing optional name. */
  name(name: string | undefined): void {
    this.hash(name === undefined ? noName : computeHash(name));
  }

  hash({ high, low }: Hash64): void {
    this.word(high);
    this.word(low);
  }

  number(value: number): void {
    doubles[0] = value;
    this.word(words[0]!);
    this.word(words[1]!);
  }

  /** Adds a 32-bit integer to both hashes of the row, which use different rotations. */
  word(word: number): void {
    this.#a = Math.imul(rotate(this.#a, 5) ^ word, 0x9e3779b1);
    this.#b = Math.imul(rotate(this.#b, 11) ^ word, 0x85ebca6b);
  }

  end(): void {
    this.#sumA = (this.#sumA + avalanche(this.#a)) | 0;
    this.#sumB = (this.#sumB + avalanche(this.#b ^ this.#a)) | 0;
  }

  add([a, b]: readonly [number, number]): void {
    this.#sumA = (this.#sumA + a) | 0;
    this.#sumB = (this.#sumB + b) | 0;
  }

  get total(): readonly [number, number] {
    return [this.#sumA >>> 0, this.#sumB >>> 0];
  }
}

function computeHash(name: string): Hash64 {
  const known = hashes.get(name);
  if (known !== undefined) return known;
  const hash = murmur3(scratch, encoder.encodeInto(name, scratch).written);
  if (name.length > longest) return hash;
  if (hashes.size >= maxHashes) hashes.clear();
  hashes.set(name, hash);
  return hash;
}
