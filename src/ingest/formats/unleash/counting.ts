import { environmentNamed, type KeyHolder } from '../../../accounts/key-index.ts';
import type { Batch } from '../../../storage/commit/batch.ts';
import type { SeriesSink } from '../../../storage/commit/series-dictionary.ts';
import { eachAdded, opensFlag, repeats, rowKind } from '../../../storage/lmdb/cumulative-rows.ts';
import type { Environment, MetricDeclaration } from '../../../storage/lmdb/records.ts';
import type { Retention } from '../../../storage/lmdb/retention.ts';
import type { SenderSight } from '../../../storage/lmdb/senders.ts';
import type { CountingDeps } from '../../count-once.ts';
import { countedAt } from '../../counted-at.ts';
import { addNote, type Notes } from '../../omissions.ts';
import type { Checks, UnleashContent, UnleashMessage, UnleashUsage } from './message/message.ts';
import type { SentBefore } from './repetition.ts';

export const source = { route: 'unleash', transport: 'http' } as const;

export interface UnleashSender {
  readonly holder: KeyHolder;
  /** The environment that the token stands for. */
  readonly environment: Environment;
  readonly token: string;
}

/** Receives new names and senders. */
export type Sink = SeriesSink & { readonly senders: SenderSight[] };

type Head = Pick<UnleashMessage, 'appName' | 'sdk'>;

export interface CountingParts extends Pick<CountingDeps, 'dictionary' | 'senders'> {
  readonly retention: Retention;
  /** The declared metrics of an application, by name. */
  metricsOf(applicationId: string): ReadonlyMap<string, Pick<MetricDeclaration, 'kind'>>;
}

export class UnleashCounting {
  readonly notes: Notes = new Map();
  readonly #parts: CountingParts;
  readonly #head: Head;
  readonly #own: Environment;
  readonly #application: string;
  readonly #environmentOf: (name: string | undefined) => Environment | undefined;
  /** Unix ms. */
  readonly #now: number;
  /** When values are counted: with the first usage. */
  #at: number | undefined;
  /** `ref, kind, amount` of each usage: see `CumulativeMessage`. */
  readonly #usages: { readonly bucket: number; readonly rows: number[] }[] = [];
  readonly #counters: number[] = [];
  readonly #gauges: number[] = [];

  constructor(parts: CountingParts, head: Head, sender: UnleashSender, now: number) {
    const { holder, environment } = sender;
    this.#parts = parts;
    this.#head = head;
    this.#own = environment;
    this.#application = holder.application.id;
    this.#environmentOf = environmentsOf(sender);
    this.#now = now;
  }

  add({ usages, counters, gauges }: UnleashContent, sink: Sink): void {
    const { folded, dropped } = sink;
    this.#askerOf(undefined, this.#own, sink);
    for (const usage of usages) this.#addUsage(usage, sink);
    const series = this.#parts.dictionary.of(this.#own.number);
    for (const [values, rows, kind] of [
      [counters, this.#counters, rowKind.counter],
      [gauges, this.#gauges, rowKind.gauge],
    ] as const) {
      for (const [metric, value] of values) {
        const ref = series.metric(metric, sink);
        if (ref !== undefined) rows.push(ref, kind, value);
      }
    }
    const declared = this.#parts.metricsOf(this.#application);
    if (gauges.some(([metric]) => declared.get(metric)?.kind !== 'gauge'))
      addNote(this.notes, 'gauge_undeclared');
    if (sink.folded > folded) addNote(this.notes, 'series_folded');
    if (sink.dropped > dropped) addNote(this.notes, 'name_dropped');
  }

  #addUsage({ appName, environment: name, at: sentAt, path, checks }: UnleashUsage, sink: Sink): void {
    this.#at ??= sentAt ?? this.#now;
    const environment = this.#environmentOf(name);
    if (environment === undefined) {
      addNote(this.notes, 'environment_unknown', ...path, 'environment');
      return;
    }
    const { bucket, moved } = countedAt(sentAt ?? this.#now, this.#now, this.#parts.retention);
    if (moved) addNote(this.notes, 'time_moved', ...path);
    const series = this.#parts.dictionary.of(environment.number);
    const asker = this.#askerOf(appName, environment, sink);
    const rows = this.#rowsAt(bucket, checks);
    let opens = 0;
    let last: string | undefined;
    let variants: ReadonlyMap<string, number> | undefined;
    for (const { feature, variant, checks: sum, kind } of checks) {
      if (kind >= opensFlag) opens = opensFlag;
      const isFirst = feature !== last;
      if (isFirst) variants = series.variantsOf(feature);
      const ref = variants?.get(variant) ?? series.variant(feature, variant, sink);
      if (ref === undefined) {
        addNote(this.notes, 'name_dropped', ...path, ...(typeof path.at(-1) === 'string' ? [feature] : []));
        continue;
      }
      if (isFirst) asker.asked(feature, ref, series, sink);
      last = feature;
      rows.push(ref, (kind % opensFlag) + opens, sum);
      opens = 0;
    }
  }

  /** The rows of a usage. A part of a message can begin with the rest of a flag. */
  #rowsAt(bucket: number, [first]: readonly Checks[]): number[] {
    const last = this.#usages.at(-1);
    if (last !== undefined && first !== undefined && first.kind < opensFlag) return last.rows;
    const rows: number[] = [];
    this.#usages.push({ bucket, rows });
    return rows;
  }

  #askerOf(appName: string | undefined, { number }: Environment, sink: Sink) {
    const name = appName ?? this.#head.appName ?? '';
    const sender = { ...source, name, version: this.#head.sdk ?? null };
    return this.#parts.senders.ofNamed(sink, number, sender, this.#now);
  }

  /** @param sent how the sender repeats the message; `undefined` if it never does, or nothing identifies it */
  addTo(batch: Batch, sent?: SentBefore): void {
    const { bucket, at: measuredAt } = countedAt(this.#at ?? this.#now, this.#now, this.#parts.retention);
    const counters = this.#counters;
    const gauges = this.#gauges;
    const add = (rows: readonly number[], bucket: number) =>
      eachAdded(rows, {
        count: (ref, checks) => batch.counts.add(ref, bucket, checks, 0, 0),
        measurement: (ref, value) => batch.measurements.add(ref, bucket, value, measuredAt),
      });
    const addCumulative = (sent: SentBefore, rows: readonly number[]) =>
      batch.addCumulative({ ...sent, at: this.#now, bucket, measuredAt, rows });
    if (sent !== undefined && sent.repeats !== repeats.values) {
      addCumulative(sent, counters.concat(gauges, ...this.#usages.map(({ rows }) => rows)));
      return;
    }
    for (const { bucket, rows } of this.#usages) add(rows, bucket);
    add(gauges, bucket);
    if (sent === undefined) add(counters, bucket);
    else if (counters.length > 0) addCumulative(sent, counters);
  }
}

/**
 * Finds the environment of an entry that names one as Unleash does. The name in the token means the environment that the token
 * stands for. Any other is the name of an environment of the application.
 */
function environmentsOf({ holder, environment: own, token }: UnleashSender) {
  return (name: string | undefined): Environment | undefined => {
    if (name === undefined || name === own.name) return own;
    const ownName = /^[^:]*:([^.]+)\./.exec(token)?.[1];
    return name === ownName ? own : environmentNamed(holder.environments, name);
  };
}
