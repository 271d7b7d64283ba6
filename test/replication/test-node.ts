import { randomBytes, randomUUID } from 'node:crypto';
import { defaultSettings, type ReplicaSettings } from '../../src/replication/entry.ts';
import type { NodeCondition } from '../../src/replication/node-deps.ts';
import { checkSamePostgres } from '../../src/replication/postgres/checks.ts';
import { Connection } from '../../src/replication/postgres/connection.ts';
import { parsePostgresUrl } from '../../src/replication/postgres/postgres-url.ts';
import { createTables } from '../../src/replication/postgres/schema.ts';
import type { Run } from '../../src/replication/postgres/session.ts';
import { maxSkewMs } from '../../src/replication/postgres/shared-clock.ts';
import { Replica } from '../../src/replication/replica.ts';
import { ReplicaNode } from '../../src/replication/replica-node.ts';
import { Spool } from '../../src/replication/spool.ts';
import { createSpoolAggregator } from '../../src/replication/spool-aggregator.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createLog, type LogLevel } from '../../src/runtime/log.ts';
import { Batch } from '../../src/storage/commit/batch.ts';
import { EnvironmentSeries } from '../../src/storage/commit/series-dictionary.ts';
import { bucketWidth, countsCodec, encodeBucket, scanCells } from '../../src/storage/lmdb/blocks.ts';
import { listSeries, seriesName } from '../../src/storage/lmdb/series.ts';
import { readChunk } from '../../src/storage/lmdb/sketches.ts';
import { openReplicaStore, type ReplicaStore } from '../../src/storage/lmdb/usage.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { type Fault, FaultySession } from './faulty-session.ts';

export const environment = 1;
/** The first minute in which a node counts. */
export const minute = 29_000_000;
const limitsOfNames = { features: 20_000, variants: 64, metrics: 100 };

/** Initialises an empty database. */
export async function initPostgres(url: string): Promise<void> {
  const connection = connect(url, 'init');
  await connection.transaction((run) =>
    createTables(run, { id: randomUUID(), secret: randomBytes(32).toString('base64') }),
  );
  await connection.close();
}

/** Opens a connection. @param postgresId the only accepted id of the database; any id by default */
export function connect(url: string, name = 'test', postgresId?: string): Connection {
  const log = createLog('error', () => {}, systemClock);
  const prepare = async (run: Run) => void (postgresId && (await checkSamePostgres(run, postgresId, undefined)));
  return new Connection(parsePostgresUrl(url), { name, log, clock: systemClock, deadlineMs: 5000, prepare });
}

export interface TestNodeOptions {
  readonly data?: string;
  readonly name?: string;
  readonly snapshotBytes?: number;
  readonly fault?: Fault;
  /** Offset of the node's clock, ms. */
  readonly clockMs?: number;
  readonly settings?: ReplicaSettings;
  readonly setAside?: () => Promise<void>;
}

/** A node in this process, with its spool, its link to PostgreSQL, and its replica. */
export class TestNode {
  readonly data: string;
  readonly stream = randomUUID();
  readonly session: FaultySession;
  readonly side: FaultySession;
  readonly node: ReplicaNode;
  readonly replica: Replica;
  readonly spool: Spool;
  readonly lines: { readonly level: string; readonly msg: string; readonly [field: string]: unknown }[] = [];
  told: NodeCondition | undefined;
  /** Offset of the node's clock, ms. */
  clockMs: number;
  readonly #aggregator: ReturnType<typeof createSpoolAggregator>;
  readonly store: ReplicaStore;
  readonly #connections: readonly Connection[];
  readonly #series: EnvironmentSeries;
  #listeners: (() => void)[] = [];

  constructor(
    url: string,
    {
      data = temporaryDirectory(),
      name = 'node',
      snapshotBytes = 2 ** 26,
      fault,
      clockMs = 0,
      settings = defaultSettings,
      setAside = async () => {},
    }: TestNodeOptions = {},
  ) {
    this.data = data;
    this.clockMs = clockMs;
    const clock = { ...systemClock, now: () => systemClock.now() + this.clockMs };
    this.spool = new Spool(data, randomUUID);
    const watermark = { at: clock.now() - maxSkewMs, applied: 0, version: 1 };
    const limits = { stream: this.stream, watermark, maxIdentities: 1000 };
    this.#aggregator = createSpoolAggregator(this.spool.store, limits);
    this.#aggregator.seal({ watermark, onlyNote: true });
    this.#series = new EnvironmentSeries(environment, limitsOfNames, listSeries(this.spool.store, environment));
    this.store = openReplicaStore(data);
    this.replica = new Replica(this.store, () => systemClock.monotonic());
    const { postgresId } = this.spool;
    const connectAs = (purpose: string) => connect(url, `${name}${purpose}`, postgresId);
    const main = connectAs('');
    const side = connectAs(' side');
    const late = connectAs(' late');
    this.#connections = [main, side, late];
    this.session = new FaultySession(main, fault, undefined, late);
    this.side = new FaultySession(side, undefined, this.session);
    const log = createLog('debug' as LogLevel, (line) => this.#logged(line), systemClock);
    const facts = { directory: this.spool.directory, path: data, name, version: 'test', stream: this.stream };
    this.node = new ReplicaNode({
      facts: { ...facts, started: clock.now(), postgresId },
      session: this.session,
      side: this.side,
      spool: this.spool,
      replica: this.replica,
      store: this.store,
      settings,
      snapshotBytes,
      maxSpoolBytes: 2 ** 32,
      clock,
      log,
      main: {
        seal: async ({ watermark, ...noted }) =>
          this.#aggregator.seal({ watermark: { ...watermark, version: 1 }, ...noted }),
        tell: (told) => {
          this.told = told;
          for (const listener of this.#listeners) listener();
        },
        storeFailed: () => {},
        setAside: () => setAside(),
        forgotten: async () => {},
      },
    });
  }

  /** Resolves when the reported state is as wanted. */
  until(wanted: (told: NodeCondition) => boolean): Promise<NodeCondition> {
    return new Promise((resolve) => {
      const listener = () => {
        if (this.told === undefined || !wanted(this.told)) return;
        this.#listeners = this.#listeners.filter((each) => each !== listener);
        resolve(this.told);
      };
      this.#listeners.push(listener);
      listener();
    });
  }

  /** Counts checks of a feature. They are on disk when the call returns. */
  count(feature: string, checks = 1, at = 0): void {
    this.countAll([[feature, checks, at]]);
  }

  countAll(rows: readonly (readonly [feature: string, checks: number, at: number])[]): void {
    const batch = new Batch();
    for (const [feature, checks, at] of rows) {
      batch.counts.add(
        this.#series.variant(feature, 'on', batch)!,
        encodeBucket(bucketWidth.minute, minute + at),
        checks,
        0,
        0,
      );
    }
    this.#aggregator.write(batch.seal());
  }

  /** Counts a user of a feature, as `count` does. */
  meet(feature: string, user: number): void {
    const batch = new Batch();
    batch.users.add(this.#series.variant(feature, 'on', batch)!, minute, user * 64, 1);
    this.#aggregator.write(batch.seal());
  }

  /** Returns the number of users of any feature on a day, from the replica. */
  users(): number {
    this.store.lmdb.resetReadTxn();
    const chunks = Array.from(this.store.sketches.getRange(), ({ value }) => readChunk(value));
    return chunks.reduce((sum, { coupons }) => sum + (coupons?.length ?? 0), 0);
  }

  /** Returns the checks of each feature in the replica. */
  counts(): Record<string, number> {
    this.store.lmdb.resetReadTxn();
    const sums: Record<string, number> = {};
    const cells = scanCells(this.store.counts, countsCodec, environment, bucketWidth.minute, 0, 2 * minute);
    for (const { ordinal, value } of cells) {
      const [feature = ''] = seriesName(this.store, environment, ordinal) ?? [];
      sums[feature] = (sums[feature] ?? 0) + value.checks;
    }
    return sums;
  }

  /** Removes acknowledged deltas from the spool, as if an hour had passed. */
  forgetAcknowledged(): void {
    const watermark = { at: systemClock.now(), applied: 0, version: 1 };
    this.#aggregator.seal({ watermark, onlyNote: true, removeBefore: systemClock.now() + 3_600_000 });
  }

  /** Ships everything, and stops. */
  async stop(): Promise<boolean> {
    const isShipped = await this.node.end();
    await this.#close();
    return isShipped;
  }

  /** Stops like a killed process, without sending further requests. */
  async kill(): Promise<void> {
    this.session.kill();
    await this.node.end();
    await this.#close();
  }

  async #close(): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.close()));
    await this.store.lmdb.close();
    await this.spool.close();
  }

  #logged(line: string): void {
    this.lines.push(JSON.parse(line));
  }
}
