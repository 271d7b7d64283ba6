import { environmentNamed, type KeyHolder } from '../../accounts/key-index.ts';
import type { LedgerNote } from '../../contract/notes.ts';
import type { Batch } from '../../storage/commit/batch.ts';
import type { Digest } from '../../storage/commit/records.ts';
import type { SeriesSink } from '../../storage/commit/series-dictionary.ts';
import type { Environment, MetricDeclaration } from '../../storage/lmdb/records.ts';
import type { Retention } from '../../storage/lmdb/retention.ts';
import type { SenderSight } from '../../storage/lmdb/senders.ts';
import type { CountingDeps } from '../count-once.ts';
import { countedAt } from '../counted-at.ts';
import type { UnleashContent, UnleashMessage, UnleashUsage } from './message/message.ts';

export const source = { route: 'unleash', transport: 'http' } as const;

export interface UnleashSender {
  readonly holder: KeyHolder;
  /** The environment that the token stands for. */
  readonly environment: Environment;
}

/** Receives new names and senders. */
export type Sink = SeriesSink & { readonly senders: SenderSight[] };

type Head = Pick<UnleashMessage, 'appName' | 'sdk'>;

export interface CountingParts extends Pick<CountingDeps, 'dictionary' | 'senders'> {
  readonly retention: Retention;
  /** The declared metrics of an application, by name. */
  metricsOf(applicationId: string): ReadonlyMap<string, Pick<MetricDeclaration, 'kind'>>;
}

/** Counts a message: its names are resolved to series, part by part, and then everything is added to one batch. */
export class UnleashCounting {
  readonly notes = new Set<LedgerNote>();
  readonly #parts: CountingParts;
  readonly #head: Head;
  readonly #own: Environment;
  readonly #application: string;
  readonly #environmentOf: (name: string | undefined) => Environment | undefined;
  /** Unix ms. */
  readonly #now: number;
  /** When values are counted: with the first usage. */
  #at: number | undefined;
  /** `ref, bucket, checks` */
  readonly #counts: number[] = [];
  /** `ref, value` */
  readonly #counters: number[] = [];
  readonly #gauges: number[] = [];

  constructor(
    parts: CountingParts,
    head: Head,
    { holder, environment }: UnleashSender,
    token: string,
    now: number,
  ) {
    this.#parts = parts;
    this.#head = head;
    this.#own = environment;
    this.#application = holder.application.id;
    this.#environmentOf = environmentsOf(holder, environment, token);
    this.#now = now;
  }

  /** Resolves a part of the message. */
  add({ usages, counters, gauges }: UnleashContent, sink: Sink): void {
    const { folded, dropped } = sink;
    this.#askerOf(undefined, this.#own, sink);
    for (const usage of usages) this.#addUsage(usage, sink);
    const series = this.#parts.dictionary.of(this.#own.number);
    for (const [values, rows] of [
      [counters, this.#counters],
      [gauges, this.#gauges],
    ] as const) {
      for (const [metric, value] of values) {
        const ref = series.metric(metric, sink);
        if (ref !== undefined) rows.push(ref, value);
      }
    }
    const declared = this.#parts.metricsOf(this.#application);
    if (gauges.some(([metric]) => declared.get(metric)?.kind !== 'gauge')) this.notes.add('gauge_undeclared');
    if (sink.folded > folded) this.notes.add('series_folded');
    if (sink.dropped > dropped) this.notes.add('name_dropped');
  }

  #addUsage({ appName, environment: name, at: sentAt, checks }: UnleashUsage, sink: Sink): void {
    this.#at ??= sentAt ?? this.#now;
    const environment = this.#environmentOf(name);
    if (environment === undefined) {
      this.notes.add('environment_unknown');
      return;
    }
    const { bucket, moved } = countedAt(sentAt ?? this.#now, this.#now, this.#parts.retention);
    if (moved) this.notes.add('time_moved');
    const series = this.#parts.dictionary.of(environment.number);
    const asker = this.#askerOf(appName, environment, sink);
    for (const { feature, variant, checks: sum } of checks) {
      const ref = series.variant(feature, variant, sink);
      if (ref === undefined) continue;
      asker.asked(feature, ref, series, sink);
      this.#counts.push(ref, bucket, sum);
    }
  }

  #askerOf(appName: string | undefined, { number }: Environment, sink: Sink) {
    const name = appName ?? this.#head.appName ?? '';
    const sender = { ...source, name, version: this.#head.sdk ?? null };
    return this.#parts.senders.ofNamed(sink, number, sender, this.#now);
  }

  /** @param identity of a bucket that is sent again until it is confirmed */
  addTo(batch: Batch, identity: Digest | undefined): void {
    const { bucket, at } = countedAt(this.#at ?? this.#now, this.#now, this.#parts.retention);
    const [counts, counters] = [this.#counts, this.#counters];
    for (let row = 0; row < this.#gauges.length; row += 2)
      batch.measurements.add(this.#gauges[row]!, bucket, this.#gauges[row + 1]!, at);
    if (identity !== undefined) {
      const totals = {
        environment: this.#own.number,
        bucket,
        at: this.#now,
        measuredAt: at,
        measurements: counters,
      };
      const checks = counts.filter((_, place) => place % 3 !== 1); // A bucket has one time.
      batch.cumulative.addMessage({ identity, ...totals, counts: checks });
      return;
    }
    for (let row = 0; row < counts.length; row += 3)
      batch.counts.add(counts[row]!, counts[row + 1]!, counts[row + 2]!, 0, 0);
    for (let row = 0; row < counters.length; row += 2)
      batch.measurements.add(counters[row]!, bucket, counters[row + 1]!, at);
  }
}

/**
 * Finds the environment of an entry that names one as Unleash does. The name in the token means the environment that the token
 * stands for. Any other is the name of an environment of the application.
 */
function environmentsOf({ environments }: KeyHolder, own: Environment, token: string) {
  const ownName = /^[^:]*:([^.]+)\./.exec(token)?.[1];
  return (name: string | undefined): Environment | undefined => {
    if (name === undefined || name === ownName || name === own.name) return own;
    return environmentNamed(environments, name);
  };
}
