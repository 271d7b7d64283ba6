import { addPacket } from '../../src/ingest/formats/telemetry/add-packet.ts';
import { checkPacket } from '../../src/ingest/formats/telemetry/packet.ts';
import { encodeDelta } from '../../src/replication/delta.ts';
import { type Entry, type EntryKind, encodeBody, loggedMint } from '../../src/replication/entry.ts';
import { hashIdentity } from '../../src/storage/aggregate/user-hash.ts';
import { Batch } from '../../src/storage/commit/batch.ts';
import type { Envelope } from '../../src/storage/commit/envelope.ts';
import { type Digest, digestBytes, digestWords } from '../../src/storage/commit/records.ts';
import { EnvironmentSeries, type SeriesLimits } from '../../src/storage/commit/series-dictionary.ts';
import { bucketWidth, encodeBucket, type Measurement } from '../../src/storage/lmdb/blocks.ts';
import type { CumulativeMessage } from '../../src/storage/lmdb/cumulative.ts';
import { digestIdentity, type Mint, newInstanceId } from '../../src/storage/lmdb/instances.ts';
import { encodeDimensions } from '../../src/storage/lmdb/ledger.ts';
import { permanentAt } from '../../src/storage/lmdb/messages.ts';
import { slotMs } from '../../src/storage/lmdb/senders.ts';
import { environmentOrdinal } from '../../src/storage/lmdb/sketches.ts';
import { cumulativeMessage, variantRows } from '../support/cumulative.ts';
import { OpenDelta } from './open-delta.ts';

/** A log in memory instead of PostgreSQL. */
export class TestLog {
  readonly entries: Entry[] = [];

  get position(): number {
    return this.entries.length;
  }

  append(kind: EntryKind, body: Buffer, stream = '', seq = 0): void {
    const position = this.position + 1;
    this.entries.push({ position, id: String(position * 7919), kind, stream, seq, body });
  }
}

export const application = 1;
export const start = Date.UTC(2026, 0, 31, 12, 0);
const secret = Buffer.alloc(32, 7);

export const hashPerson = (identity: string) => digestIdentity(secret, application, identity);

/** Creates a mint without random values. `number` distinguishes mints of the same person. */
export function createMint(identity: string, number: number, at: number, ttlMs: number): Mint {
  const instanceId = newInstanceId(hashPerson(identity), (length) => new Uint8Array(length).fill(number));
  const { high, low } = hashIdentity(`${application} ${identity}`);
  const life = { expiresAt: at + ttlMs, graceUntil: at + 60_000 };
  return { application, instanceId, high, low, profile: JSON.stringify({ identity }), ...life };
}

export function appendMints(log: TestLog, ...mints: readonly Mint[]): void {
  log.append('mint', encodeBody('mint', mints.map(loggedMint)));
}

/** A packet with its age, person and sender. */
export interface TestPacket {
  readonly environment: number;
  readonly f: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>;
  readonly m: Readonly<Record<string, number>>;
  /** Age of the packet in minutes. */
  readonly ago: number;
  /** The person to whom the packet is attributed. */
  readonly person: string | undefined;
  readonly sender: string;
}

/** Returns the batch of one packet, with the series of a node or a single machine. */
export function createBatch(sent: TestPacket, series: EnvironmentSeries, now: number): Envelope {
  const batch = new Batch();
  const { environment, f, m, ago, person, sender } = sent;
  const who = person === undefined ? undefined : whoIs(person);
  addPacket(checkPacket({ k: 'k', e: 'e', f, m }), series, batch, now - ago * 60_000, who);
  const name = { name: sender, version: '1', transport: 'http', route: 'telemetry' } as const;
  const slot = Math.floor(now / slotMs);
  const features = Object.keys(f).map((feature) => series.findFirst(feature)?.ordinal);
  for (const ordinal of [environmentOrdinal, ...features]) {
    if (ordinal !== undefined) batch.senders.push({ environment, ordinal, slot, sender: name });
  }
  const subject = { environment, transport: 'http', route: 'telemetry', outcome: 'accepted' } as const;
  const rest = { status: 202, code: null, userAgent: sender, instance: null };
  const row = { application, hour: Math.floor(now / 3_600_000), subject: encodeDimensions({ ...subject, ...rest }) };
  batch.ledger.add(row, now);
  return batch.seal();
}

function whoIs(identity: string) {
  const { high, low } = hashIdentity(`${application} ${identity}`);
  return { high, low, digest: digestWords(hashPerson(identity)) };
}

/** A process of a node. It counts packets and ships deltas. */
export class TestStream {
  seq = 0;
  /** Log position that the node had applied when it began the current delta. */
  since: number;
  through: number;
  readonly id: string;
  readonly #limits: SeriesLimits;
  readonly #environments = new Map<number, EnvironmentSeries>();
  #open = new OpenDelta();

  constructor(id: string, log: TestLog, now: number, limits: SeriesLimits) {
    this.id = id;
    this.since = log.position;
    this.through = now;
    this.#limits = limits;
  }

  send(sent: TestPacket, now: number): void {
    this.#open.add(createBatch(sent, this.#ensureSeries(sent), now));
  }

  /** Sends a packet with an identity. Such a packet counts once in all streams. */
  sendMessage(sent: TestPacket, identity: Uint8Array, now: number): void {
    this.#open.addMessage(identity, now, createBatch(sent, this.#ensureSeries(sent), now));
  }

  /** Imports a section with a summary of values of the metric `load`. */
  importSummary(summary: Measurement, identity: Uint8Array, environment: number, now: number): void {
    const batch = new Batch();
    const bucket = encodeBucket(bucketWidth.minute, Math.floor(now / 60_000));
    batch.measurements.addSummary(this.#ensureSeries({ environment }).metric('load', batch)!, bucket, summary);
    this.#open.addMessage(identity, permanentAt, batch.seal());
  }

  /**
   * Sends the totals of variants of the flag `checkout`, counted since the start of a process. The identity identifies
   * this process.
   */
  sendTotals(
    totals: Readonly<Record<string, number>>,
    identity: Digest,
    now: number,
    more: Partial<CumulativeMessage> = {},
  ): void {
    const batch = new Batch();
    const series = this.#ensureSeries({ environment: 1 });
    const refs = Object.entries(totals).map(
      ([variant, checks]) => [series.variant('checkout', variant, batch)!, checks] as const,
    );
    const sent = cumulativeMessage(now, variantRows(refs), { identity: digestBytes(...identity), ...more });
    batch.addCumulative(sent);
    this.#open.addCumulative(batch.seal());
  }

  /** Sends a running total of the variant `on` of the flag `checkout`. */
  sendTotal(value: number, digest: Uint8Array, now: number): void {
    const batch = new Batch();
    const ref = this.#ensureSeries({ environment: 1 }).variant('checkout', 'on', batch)!;
    const bucket = encodeBucket(bucketWidth.minute, Math.floor(now / 60_000));
    batch.totals.push({ application, digest, ref, bucket, value, at: now, received: now, fresh: 1 });
    this.#open.addCumulative(batch.seal());
  }

  /** Sends a packet with an instance id unknown to the node. */
  sendUnresolved(sent: TestPacket, mint: Mint, now: number): void {
    const { application: number, digest, hash } = loggedMint(mint);
    const id = { application: number, digest, hash };
    this.#open.addUnresolved(id, Math.floor(now / 1000), createBatch(sent, this.#ensureSeries(sent), now));
  }

  /** Seals and ships the counts. @param applied position of the log that the node has applied */
  ship(log: TestLog, now: number, applied = log.position): void {
    this.seq += 1;
    this.through = now;
    const { id: stream, seq, since, through } = this;
    log.append('delta', encodeDelta(this.#open.seal({ stream, seq, since, version: 1, through })), stream, seq);
    this.since = Math.max(this.since, applied);
    this.#open = new OpenDelta();
  }

  #ensureSeries({ environment }: Pick<TestPacket, 'environment'>): EnvironmentSeries {
    const series = this.#environments.get(environment) ?? new EnvironmentSeries(environment, this.#limits, []);
    this.#environments.set(environment, series);
    return series;
  }
}
