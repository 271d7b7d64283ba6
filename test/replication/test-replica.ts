import type { Refusal } from '../../src/replication/apply-entry.ts';
import { Replica } from '../../src/replication/replica.ts';
import { createReports } from '../../src/reports/make-report.ts';
import { horizonsAt } from '../../src/storage/lmdb/blocks.ts';
import { exposuresKey, readExposures } from '../../src/storage/lmdb/exposures.ts';
import { seriesName } from '../../src/storage/lmdb/series.ts';
import { openReplicaStore, type ReplicaStore, type UsageTables } from '../../src/storage/lmdb/usage.ts';
import { finish } from '../support/finish.ts';
import { dump } from '../support/whole-batch.ts';
import { application, hashPerson, start, type TestLog } from './test-streams.ts';

/** A replica in a separate directory. */
export class TestReplica {
  readonly data: string;
  store: ReplicaStore;
  replica: Replica;
  /** Rows that were refused so far. */
  readonly refused: Refusal[] = [];
  /**
   * Milliseconds between two readings of the clock. With 0, a call applies all entries. With 10, a call applies one
   * entry or step.
   */
  pace = 0;
  #time = 0;

  constructor(data: string) {
    this.data = data;
    this.store = openReplicaStore(data);
    this.replica = this.#open();
  }

  /** Applies the log up to a position. */
  follow(log: TestLog, to = log.position): void {
    while (this.replica.applied.position < Math.min(to, log.position)) this.step(log, to);
  }

  /** Makes one call to `apply`, which can leave an entry partly applied. */
  step(log: TestLog, to = log.position): void {
    const { position } = this.replica.applied;
    if (position < to) this.refused.push(...this.replica.apply(log.entries.slice(position, to)).refused);
  }

  /** Restarts the replica with empty caches. */
  async restart(): Promise<void> {
    await this.store.lmdb.close();
    this.store = openReplicaStore(this.data);
    this.replica = this.#open();
  }

  /** Does some steps of upkeep, at a time of the node's own clock. */
  upkeep(now: number, steps = Number.POSITIVE_INFINITY): void {
    const limit = steps === Number.POSITIVE_INFINITY ? 1000 : 3;
    for (const environment of environments) {
      const due = retention(environment, now, limit);
      for (let step = 0; step < steps && this.replica.maintain(due) > 0; ) step += 1;
    }
    for (let step = 0; step < steps && this.replica.erase(limit) > 0; ) step += 1;
  }

  /**
   * Returns all content, except data that depends on the time of upkeep but does not affect reports, such as the
   * progress of roll-ups. Facts of the node itself, and its position in the log, are omitted as well.
   */
  content(): string[] {
    const facts = ['own:', 'daysMarked'].map((name) => `replica ${Buffer.from(name).toString('hex')}`);
    const others = ['carried ', ...facts];
    return dump(this.store).filter((row) => !others.some((prefix) => row.startsWith(prefix)));
  }

  #open(): Replica {
    return new Replica(this.store, () => {
      this.#time += this.pace;
      return this.#time;
    });
  }
}

export const environments = [1, 2];

function retention(environment: number, now: number, limit: number) {
  const horizons = horizonsAt(now, { minutesMs: 0, hoursMs: 0, daysMs: 0 });
  return { task: 'retention', environment, horizons, now, exposureDays: 30, limit } as const;
}

const days = { from: Math.floor(start / 86_400_000) - 3, to: Math.floor(start / 86_400_000) + 200 };
const range = { from: days.from * 1440, to: days.to * 1440, step: 'day' } as const;

export function makeReports(store: UsageTables, now: number, features: readonly string[]): unknown[] {
  store.lmdb.resetReadTxn();
  const reports = createReports(store);
  const json = (made: Parameters<typeof finish>[0]) => JSON.parse(Buffer.from(finish(made) as Uint8Array).toString());
  const page = { after: undefined, limit: 1000 } as never;
  const named = environments.map((number) => ({ number, name: `e${number}`, createdAt: start }));
  const staleness = { now, staleAfterMs: 30 * 86_400_000 };
  const hours = { from: range.from / 60, to: range.to / 60 };
  const ledgerApplication = { number: application, environments: named };
  return [
    ...named.flatMap((environment) => [
      json(reports.usage({ environment, range, only: undefined })),
      json(reports.measurements({ environment, range, only: undefined, gauges: new Set(['g']) })),
      json(reports.overviewUsers({ environment, range, features })),
    ]),
    json(
      reports.features({ environments: named, declared: [], owned: new Map(), only: {} as never, page, ...staleness }),
    ),
    json(reports.metrics({ environments, declared: [], only: undefined, page })),
    json(reports.ledger({ application: ledgerApplication, only: undefined, unnamed: true, hours, keys: [] })),
    ...features.map((feature) => finish(reports.senders({ environments: named, feature, now }))),
    ...features.map((feature) => {
      return finish(reports.verdict({ environments: named, declared: [], feature, ...staleness }));
    }),
  ];
}

/** Returns a value with its lists sorted by name, because reports list names in order of arrival. */
export function byName(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(byName).sort((a, b) => compare(formatName(a), formatName(b)));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, byName(held)]));
}

function formatName(value: unknown): string {
  const { feature, variant, metric, name } = (value ?? {}) as Record<string, unknown>;
  return JSON.stringify([feature, variant, metric, name]);
}

function compare(a: string, b: string): number {
  return Number(a > b) - Number(a < b);
}

/** Returns the stored exposures of people, by name. */
export function listExposures(store: UsageTables, people: readonly string[]): unknown[] {
  store.lmdb.resetReadTxn();
  return people.flatMap((person) =>
    environments.map((environment) => {
      const rows = readExposures(store, exposuresKey(environment, hashPerson(person)))?.rows ?? [];
      const named = [...rows].map(([ordinal, row]) => [seriesName(store, environment, ordinal)?.join('/'), row]);
      return [person, environment, Object.fromEntries(named)];
    }),
  );
}
