import { createHash } from 'node:crypto';
import { ledgerRefusals, type RefusalDescription } from '../../contract/ledger-refusals.ts';
import type { MessageRoute, Transport } from '../../contract/message-routes.ts';
import { pairKey, removeRange } from './key-prefix.ts';
import type { KeyType } from './records.ts';
import { readAt, type Snapshot } from './snapshot.ts';
import type { UsageTables } from './usage.ts';

/**
 * The ledger: the results of the packets and reports of an application, hour by hour (UTC).
 *
 * Key: application (u32), hour since the epoch (u32), both big-endian, then 16 bytes of the SHA-256 of the subject's
 * text. Value: JSON `[subject, count, lastAt, example]`, where the subject is an array in the order of
 * `encodeDimensions`. The rows of an hour of an application are adjacent. A commit thus changes few pages, and a report
 * is one range scan.
 */

/** `noted`: the message was accepted, but not everything in it was counted as sent. */
export type LedgerOutcome = 'accepted' | 'refused' | 'noted';

/** The subject of a ledger row. Messages with the same values of these fields are counted in one row. */
export interface LedgerDimensions {
  /** The environment's number; `null` if the message names no environment, or an unknown environment. */
  readonly environment: number | null;
  readonly transport: Transport;
  readonly route: MessageRoute;
  readonly outcome: LedgerOutcome;
  readonly status: number;
  /** The reason of a refusal or a note. */
  readonly code: string | null;
  readonly userAgent: string | null;
  readonly instance: string | null;
}

/**
 * An example that helps to find the sender. The example contains no secret. For a packet, the example is the path of an
 * entry that was left out.
 */
export interface LedgerExample {
  readonly environment?: string;
  readonly origin?: string;
  readonly keyId?: string;
  readonly keyPrefix?: string;
  readonly keyType?: KeyType;
  readonly detail?: string;
}

export interface LedgerTotal {
  count: number;
  /** Unix ms. */
  lastAt: number;
  /** The example of the latest message that has an example. */
  example: LedgerExample | null;
}

export interface LedgerLine extends Readonly<LedgerTotal> {
  readonly application: number;
  /** Hours since the epoch. */
  readonly hour: number;
  /** The subject as text, which `encodeDimensions` writes. */
  readonly subject: string;
}

export interface LedgerEntry extends Readonly<LedgerTotal> {
  readonly hour: number;
  readonly dimensions: LedgerDimensions;
}

/**
 * Used in place of the number of an application in rows about Unleash tokens that no application has adopted. The
 * `instance` of such a row is the public part of the token.
 */
export const noApplication = 0;

export const ledgerLifeHours = 90 * 24;

/** The canonical text of a subject: equal subjects have equal texts. */
export function encodeDimensions(dimensions: LedgerDimensions): string {
  const { environment, transport, route, outcome, status, code, userAgent, instance } = dimensions;
  return JSON.stringify([environment, transport, route, outcome, status, code, userAgent, instance]);
}

export function decodeDimensions(text: string): LedgerDimensions {
  return readDimensions(JSON.parse(text));
}

const digestBytes = 16;

export function ledgerKey({ application, hour, subject }: Omit<LedgerLine, keyof LedgerTotal>): Buffer {
  const digest = createHash('sha256').update(subject).digest();
  return Buffer.concat([pairKey(application, hour), digest.subarray(0, digestBytes)]);
}

/** Puts a row. Call this in the transaction that counts the message. */
export function putLedgerRow(store: UsageTables, key: Buffer, subject: string, totals: LedgerTotal): void {
  const { count, lastAt, example } = totals;
  const value = `[${subject},${count},${lastAt},${JSON.stringify(example)}]`;
  store.ledger.putSync(key, Buffer.from(value));
}

export function getLedgerTotal(store: UsageTables, key: Buffer): LedgerTotal | undefined {
  const value = store.ledger.get(key);
  if (value === undefined) return undefined;
  const [, count, lastAt, example] = JSON.parse(value.toString()) as StoredRow;
  return { count, lastAt, example };
}

export function readLedgerLine(key: Buffer, value: Buffer): LedgerLine {
  const [subject, count, lastAt, example] = JSON.parse(value.toString()) as StoredRow;
  const application = key.readUInt32BE(0);
  const hour = key.readUInt32BE(4);
  return { application, hour, subject: JSON.stringify(subject), count, lastAt, example };
}

/**
 * Deletes at most `limit` rows of an application that belong to hours before a given hour. Call this in a transaction.
 */
export function deleteLedger(store: UsageTables, application: number, before: number, limit: number): void {
  const range = { start: pairKey(application, 0), end: pairKey(application, Math.max(0, before)), limit };
  removeRange(store.ledger, range);
}

/**
 * The rows of an application with `from ≤ hour < to`, latest hour first.
 * @param only the outcome of the rows; default: all outcomes. Other rows are skipped without being decoded
 */
export function* ledgerEntries(
  store: UsageTables,
  application: number,
  from: number,
  to: number,
  at?: Snapshot,
  only?: LedgerOutcome,
): Generator<LedgerEntry> {
  // A reverse range includes its start. The start has no digest, so the range has no row of hour `to`.
  const start = pairKey(application, to);
  const end = pairKey(application, from);
  const range = { start, end, reverse: true, ...readAt(at) };
  for (const { key, value } of store.ledger.getRange(range)) {
    if (only !== undefined && !value.includes(`"${only}"`)) continue;
    const [subject, count, lastAt, example] = JSON.parse(value.toString()) as StoredRow;
    if (only !== undefined && subject[3] !== only) continue;
    yield { hour: key.readUInt32BE(4), dimensions: readDimensions(subject), count, lastAt, example };
  }
}

type StoredDimensions = [
  environment: number | null,
  transport: Transport,
  route: MessageRoute,
  outcome: LedgerOutcome,
  status: number,
  code: string | null,
  userAgent: string | null,
  instance: string | null,
];

type StoredRow = [subject: StoredDimensions, count: number, lastAt: number, example: LedgerExample | null];

function readDimensions(stored: StoredDimensions): LedgerDimensions {
  const [environment, transport, route, outcome, status, storedCode, userAgent, instance] = stored;
  const code = storedCode === null ? null : (renamedCodes.get(storedCode) ?? storedCode);
  return { environment, transport, route, outcome, status, code, userAgent, instance };
}

/** Current codes of refusals by the codes of earlier builds, which stored rows can have. */
const renamedCodes: ReadonlyMap<string, string> = new Map(
  Object.entries<RefusalDescription>(ledgerRefusals).flatMap(([code, { formerly }]) =>
    formerly === undefined ? [] : [[formerly, code]],
  ),
);

/** Maximum delay between a message and the commit of its ledger row, ms. */
const writtenAfterMs = 120_000;

/** The first hour since the epoch whose ledger can still change. @param now Unix ms */
export function hoursWritten(now: number): number {
  return Math.floor((now - writtenAfterMs) / 3_600_000);
}
