import { decodeBody, loggedMint, type ReplicaSettings } from '../../src/replication/entry.ts';
import { createAggregator } from '../../src/storage/commit/aggregator.ts';
import { Batch } from '../../src/storage/commit/batch.ts';
import type { Envelope } from '../../src/storage/commit/envelope.ts';
import { EnvironmentSeries } from '../../src/storage/commit/series-dictionary.ts';
import { horizonsAt } from '../../src/storage/lmdb/blocks.ts';
import { resolveInstance } from '../../src/storage/lmdb/instances.ts';
import { openUsageTables, type UsageTables } from '../../src/storage/lmdb/usage.ts';
import { type History, type Item, people } from './history.ts';
import { environments } from './test-replica.ts';
import { application, createBatch, hashPerson, type TestPacket } from './test-streams.ts';

/** A single machine that receives each packet of a log once, even if the log repeats the packet. */
export class OneMachine {
  readonly store: UsageTables;
  readonly #write: (envelope: Envelope) => void;
  readonly #maintain: ReturnType<typeof createAggregator>['maintain'];
  readonly #series = new Map<number, EnvironmentSeries>();
  readonly #counted = new Map<string, number[]>();
  readonly #forgotten = new Map<string, number>();
  #isErased = false;

  constructor(data: string) {
    this.store = openUsageTables(data);
    ({ write: this.#write, maintain: this.#maintain } = createAggregator(this.store));
  }

  play({ log, shipped, minted }: History): void {
    for (const { position, kind, body } of log.entries) {
      const mint = minted.get(position);
      if (mint !== undefined) this.#commit((batch) => batch.mints.push(mint));
      for (const item of shipped.get(position)?.items ?? []) this.#add(item, shipped.get(position)!.since);
      if (kind === 'forget') this.#forget(body, position);
      if (kind === 'erase') this.#erase();
    }
  }

  upkeep(now: number, { exposureDays, ...retention }: ReplicaSettings): void {
    const horizons = horizonsAt(now, retention);
    for (const environment of environments) {
      const step = { task: 'retention', environment, horizons, now, exposureDays, limit: 100 } as const;
      while (this.#maintain(step) > 0);
    }
  }

  #add(item: Item, since: number): void {
    const { sent, now, identity } = item;
    if (this.#isErased && sent.environment === 2) {
      const { ledger } = createBatch(sent, this.#of(sent), now);
      this.#write({ ...new Batch().seal(), ledger });
      return;
    }
    const isForgotten = (this.#forgotten.get(sent.person ?? '') ?? 0) > since;
    const isNobody = item.mint !== undefined && (isForgotten || !this.#isValid(item));
    const who = isNobody ? { ...sent, person: undefined } : sent;
    const envelope = createBatch(who, this.#of(sent), now);
    const { counts, measurements, users, exposures, ...rest } = envelope;
    const nothing = { counts: undefined, measurements: undefined, users: undefined, exposures: undefined };
    if (identity !== undefined && !this.#isFirst(identity, now)) this.#write({ ...rest, ...nothing });
    else this.#write(isForgotten ? { ...envelope, exposures: undefined } : envelope);
  }

  #isValid({ mint, now }: Item): boolean {
    const { digest, hash } = loggedMint(mint!);
    const id = { application, digest, hash };
    this.store.lmdb.resetReadTxn();
    return resolveInstance(this.store, id, Math.floor(now / 1000) * 1000) !== undefined;
  }

  #isFirst(identity: Uint8Array, now: number): boolean {
    const name = Buffer.from(identity).toString('hex');
    const times = this.#counted.get(name) ?? [];
    if (times.some((time) => Math.abs(time - now) < 600_000)) return false;
    this.#counted.set(name, [...times, now]);
    return true;
  }

  #forget(body: Buffer, position: number): void {
    const forgotten = decodeBody('forget', body);
    this.#commit((batch) => batch.forgotten.push(forgotten));
    for (const person of people) {
      if (forgotten.digest === hashPerson(person).toString('hex')) this.#forgotten.set(person, position);
    }
  }

  #erase(): void {
    this.#isErased = true;
    const target = { type: 'environment', id: '2', name: 'e2' } as const;
    const deletion = { application, environments: [2], whole: false, target, teamId: 't', requestedAt: 0 };
    while (this.#maintain({ task: 'deletion', deletion, limit: 1000 }) > 0);
  }

  #commit(fill: (batch: Batch) => void): void {
    const batch = new Batch();
    fill(batch);
    this.#write(batch.seal());
  }

  #of({ environment }: TestPacket): EnvironmentSeries {
    const limits = { features: 100, variants: 100, metrics: 100 };
    const series = this.#series.get(environment) ?? new EnvironmentSeries(environment, limits, []);
    this.#series.set(environment, series);
    return series;
  }
}
