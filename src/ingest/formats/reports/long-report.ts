import type { Batch } from '../../../storage/commit/batch.ts';
import type { EnvironmentSeries } from '../../../storage/commit/series-dictionary.ts';
import { FoundNames, type NameSink } from '../../count-once.ts';
import type { CountedAt } from '../../counted-at.ts';
import type { Asker } from '../../senders.ts';
import { entryWidth, noName, type PackedReport, userWidth } from './report.ts';

/** Entries counted per step: about a millisecond of work. */
const entriesPerStep = 1000;
const usersPerStep = 2000;

export interface Steps {
  readonly series: EnvironmentSeries;
  /** Returns the sender, and adds a new sender to the batch or sink. */
  asker(sink: NameSink): Asker;
  /** Returns the time at which data reported for `time` is counted. */
  at(time: number): CountedAt;
  /** Resolves after other requests have been served. */
  nextStep(): Promise<void>;
  /** Adds data that can be stored without the report: see `Lane.addBefore`. */
  addBefore(fill: (batch: Batch) => void): Promise<void>;
}

/** Notes that are known only once the report is in a batch. */
export type AddedNotes = Readonly<Record<'time_moved' | 'series_folded' | 'name_dropped', boolean>>;

/**
 * A report of hundreds of thousands of entries, counted in steps. Its names are resolved to numbers, and entries of one
 * series are added up. Most of its users are committed before the rest of the report, which is safe: a repeated user
 * counts once.
 */
export class LongReport {
  readonly report: PackedReport;
  /** Rows of five numbers: the arguments of `Batch` for each entry. */
  #rows = new Float64Array(0);
  #length = 0;
  readonly #rowByRef = new Map<number, number>();
  readonly #names: (string | undefined)[] = [];
  /** Position of the first user that is not committed yet. */
  #users = 0;
  readonly #found = new FoundNames();
  /** True if a value is not counted at its reported time. */
  #moved = false;

  constructor(report: PackedReport) {
    this.report = report;
  }

  /** Runs all but the last step. @throws {Refusal} if the store is unavailable */
  async prepare(steps: Steps): Promise<void> {
    const { entries } = this.report;
    this.#rows = new Float64Array(entries.length);
    for (let from = 0; from < entries.length; from += entriesPerStep * entryWidth) {
      if (from > 0) await steps.nextStep();
      this.#resolveEntries(steps, from, Math.min(entries.length, from + entriesPerStep * entryWidth));
      this.#found.keep(steps.addBefore);
    }
    await this.#prepareUsers(steps);
  }

  async #prepareUsers(steps: Steps): Promise<void> {
    const { users } = this.report;
    for (let from = 0; from < users.length; from += usersPerStep * userWidth) {
      const to = Math.min(users.length, from + usersPerStep * userWidth);
      await steps.nextStep();
      this.#resolveUsers(steps, from, to);
      this.#found.keep(steps.addBefore);
      if (to === users.length) break;
      await steps.addBefore((batch) => this.#addUsers(batch, steps, from, to));
      this.#users = to;
    }
  }

  addTo(batch: Batch, steps: Pick<Steps, 'series' | 'at'>): AddedNotes {
    const { kind, time, users } = this.report;
    const { bucket, moved } = steps.at(time);
    const rows = this.#rows;
    for (let at = 0; at < this.#length; at += entryWidth) {
      const ref = rows[at]!;
      if (kind === 'usage') batch.counts.add(ref, bucket, rows[at + 1]!, rows[at + 2]!, rows[at + 3]!);
      else batch.measurements.add(ref, rows[at + 1]!, rows[at + 2]!, rows[at + 3]!);
    }
    this.#addUsers(batch, steps, this.#users, users.length);
    return {
      time_moved: kind === 'usage' ? moved : this.#moved,
      series_folded: this.#found.folded > 0,
      name_dropped: this.#found.dropped > 0,
    };
  }

  #resolveEntries(steps: Steps, from: number, to: number): void {
    const { kind, entries } = this.report;
    const asker = steps.asker(this.#found);
    for (let at = from; at < to; at += entryWidth) {
      const first = entries[at]!;
      const second = entries[at + 1]!;
      const third = entries[at + 2]!;
      if (kind === 'usage') {
        const ref = this.#askedFor(steps, asker, first, second);
        if (ref !== undefined) this.#addCounts(ref, third, entries[at + 3]!, entries[at + 4]!);
      } else {
        const ref = this.#refOfMetric(steps, asker, first, second, third);
        if (ref !== undefined) this.#addValue(ref, entries[at + 3]!, steps.at(entries[at + 4]!));
      }
    }
  }

  #askedFor({ series }: Steps, asker: Asker, feature: number, variant: number): number | undefined {
    const name = this.#name(feature);
    const ref = series.variant(name, this.#name(variant), this.#found);
    if (ref !== undefined) asker.asked(name, ref, series, this.#found);
    return ref;
  }

  #refOfMetric({ series }: Steps, asker: Asker, metric: number, feature: number, variant: number): number | undefined {
    const name = this.#name(metric);
    if (feature === noName) return series.metric(name, this.#found);
    const featureName = this.#name(feature);
    const ref = series.featureMetric(name, featureName, this.#name(variant), this.#found);
    if (ref !== undefined) asker.asked(featureName, ref, series, this.#found);
    return ref;
  }

  #addCounts(ref: number, checks: number, used: number, viewed: number): void {
    const row = this.#rowByRef.get(ref) ?? this.#addRow(ref, 0, 0, 0);
    this.#rowByRef.set(ref, row);
    this.#rows[row + 1]! += checks;
    this.#rows[row + 2]! += used;
    this.#rows[row + 3]! += viewed;
  }

  /** Adds a row for each value, because each value can be the minimum or the maximum. */
  #addValue(ref: number, value: number, { bucket, at, moved }: CountedAt): void {
    this.#moved ||= moved;
    this.#addRow(ref, bucket, value, at);
  }

  #addRow(ref: number, ...numbers: readonly [number, number, number]): number {
    const row = this.#length;
    this.#rows[row] = ref;
    this.#rows.set(numbers, row + 1);
    this.#length += entryWidth;
    return row;
  }

  /** Replaces the name of each feature by its series, or by `noName` if the feature has no series. */
  #resolveUsers(steps: Steps, from: number, to: number): void {
    const { users } = this.report;
    const asker = steps.asker(this.#found);
    let last = noName;
    let ref = noName;
    for (let at = from; at < to; at += userWidth) {
      const place = users[at]!;
      if (place !== last) ref = this.#refOfFeature(steps, asker, place);
      last = place;
      users[at] = ref;
    }
  }

  #refOfFeature({ series }: Steps, asker: Asker, place: number): number {
    if (place === noName) return noName;
    const name = this.#name(place);
    const ref = series.feature(name, this.#found);
    if (ref === undefined) return noName;
    asker.asked(name, ref, series, this.#found);
    return ref;
  }

  #addUsers(batch: Batch, { series, at }: Pick<Steps, 'series' | 'at'>, from: number, to: number): void {
    const { users, time } = this.report;
    const { minute } = at(time);
    for (let user = from; user < to; user += userWidth) {
      const ref = users[user]!;
      const high = users[user + 1]!;
      const low = users[user + 2]!;
      if (ref !== noName) batch.users.add(ref, minute, high, low);
      batch.users.add(series.whole, minute, high, low);
    }
  }

  #name(place: number): string {
    const known = this.#names[place];
    if (known !== undefined) return known;
    const { names, nameEnds } = this.report;
    const name = Buffer.from(names.buffer, names.byteOffset, names.length).toString(
      'utf8',
      place === 0 ? 0 : nameEnds[place - 1]!,
      nameEnds[place]!,
    );
    this.#names[place] = name;
    return name;
  }
}
