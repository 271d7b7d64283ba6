import type { Application } from '../storage/lmdb/records.ts';
import type { ReportPool } from './report-pool.ts';
import type { FreshnessDeps } from './usage/freshness.ts';
import type { FeatureSight } from './usage/sights.ts';

/** First and last time at which a feature was seen, by the number of the environment. */
export type Sights = ReadonlyMap<number, FeatureSight>;

/** The features of an application that one reading looks up. */
interface Batch {
  readonly features: Set<string>;
  readonly environments: Set<number>;
  readonly found: Promise<ReadonlyMap<string, Sights>>;
}

/** Looks up when features were seen. Callers that arrive during a reading of an application share the next reading. */
export class SharedSights {
  readonly #reports: Pick<ReportPool, 'make'>;
  readonly #freshen: FreshnessDeps['freshen'];
  /** The last reading of each application. */
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #gathering = new Map<string, Batch>();

  /** @param freshen see `UsageStore.freshen` */
  constructor(reports: Pick<ReportPool, 'make'>, freshen: FreshnessDeps['freshen'] = async () => undefined) {
    this.#reports = reports;
    this.#freshen = freshen;
  }

  /** Reads when a feature was seen, starting after this call. @throws {Refusal} see `ReportPool.make` */
  async of(application: Application, feature: string): Promise<Sights> {
    const batch = this.#gathering.get(application.id) ?? this.#begin(application);
    batch.features.add(feature);
    for (const { number } of application.environments) batch.environments.add(number);
    return (await batch.found).get(feature) ?? new Map();
  }

  #begin({ id, teamId }: Application): Batch {
    const features = new Set<string>();
    const environments = new Set<number>();
    const found = Promise.resolve(this.#running.get(id)?.catch(() => {})).then(() => {
      this.#gathering.delete(id);
      const task = { features: [...features], environments: [...environments] };
      const reading = this.#freshen('any').then(() => this.#reports.make(teamId, 'sights', task));
      this.#running.set(id, reading);
      const end = () => {
        if (this.#running.get(id) === reading) this.#running.delete(id);
      };
      reading.then(end, end);
      return reading;
    });
    const batch = { features, environments, found };
    this.#gathering.set(id, batch);
    return batch;
  }
}
